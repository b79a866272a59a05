// SPDX-License-Identifier: Apache-2.0
//
// Means and variances; NaN in an empty segment.
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

void add_means(table& all) {
  all.add_real<op::mean, make<r::mean>, double>(false);
  all.add_real<op::variance, make<r::variance>, double>(false);
  all.add_real<op::population_variance, make_of_population<r::variance>, double>(false);
}

}  // namespace tilefold::capi
