// SPDX-License-Identifier: Apache-2.0
//
// Means of order 1 to 4.
#pragma once

#include <stdexcept>
#include <vector>

#include <tilefold/reducers/moments.hpp>

#include "reducer_fold.hpp"

namespace tilefold::tool {

template <class Wide, class Fold>
class moments : reducer_fold<Wide, Fold> {
  using base = reducer_fold<Wide, Fold>;
  using base::folded;
  using base::job;
  using base::one;

 public:
  using base::base;

  std::vector<field> run() {
    namespace r = reducers;
    constexpr divisor population = divisor::population;
    switch (job().op) {
      case op_kind::mean:
        return one(folded(r::mean{}));
      case op_kind::variance:
        return one(folded(r::variance{}));
      case op_kind::population_variance:
        return one(folded(r::variance{population}));
      case op_kind::standard_deviation:
        return one(folded(r::standard_deviation{}));
      case op_kind::population_standard_deviation:
        return one(folded(r::standard_deviation{population}));
      case op_kind::mean_variance: {
        const auto found = folded(r::mean_variance{});
        return {one_field("mean", found.mean), one_field("variance", found.variance)};
      }
      case op_kind::skewness:
        return one(folded(r::skewness{}));
      case op_kind::kurtosis:
        return one(folded(r::kurtosis{}));
      default:
        throw std::logic_error("a reducer of another family");
    }
  }
};

}  // namespace tilefold::tool
