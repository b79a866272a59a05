// SPDX-License-Identifier: Apache-2.0
//
// Variances and standard deviations; NaN in an empty segment.
#include <tilefold/reducers/moments.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

namespace {

/// The variance, or its root: which one is known when a program runs, so that they share kernels.
struct deviation : r::variance {
  bool root;

  deviation(divisor by, bool root) : r::variance(by), root(root) {}
  template <detail::keeps_variance State>
  TILEFOLD_HD double project(const State& state) const {
    return root ? r::standard_deviation(by).project(state) : r::variance::project(state);
  }
};

template <divisor By, bool Root>
struct make {
  auto operator()() const { return if_empty(deviation(By, Root), not_a_number); }
};

}  // namespace

}  // namespace tilefold::capi

template <>
struct tilefold::detail::ways<tilefold::capi::deviation> : ways<tilefold::reducers::variance> {};

namespace tilefold::capi {

void add_deviations(table& all) {
  all.add_real<op::variance, make<divisor::sample, false>, double>(false);
  all.add_real<op::population_variance, make<divisor::population, false>, double>(false);
  all.add_real<op::standard_deviation, make<divisor::sample, true>, double>(false);
  all.add_real<op::population_standard_deviation, make<divisor::population, true>, double>(false);
}

}  // namespace tilefold::capi
