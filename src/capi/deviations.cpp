// SPDX-License-Identifier: Apache-2.0
//
// Standard deviations; NaN in an empty segment.
#include <tilefold/reducers/moments.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

namespace {

template <class R>
struct make {
  auto operator()() const { return if_empty(R{}, not_a_number); }
};
template <class R>
struct make_of_population {
  auto operator()() const { return if_empty(R{divisor::population}, not_a_number); }
};

}  // namespace

void add_deviations(table& all) {
  using r::standard_deviation;
  all.add_real<op::standard_deviation, make<standard_deviation>, double>(false);
  all.add_real<op::population_standard_deviation, make_of_population<standard_deviation>, double>(
      false);
}

}  // namespace tilefold::capi
