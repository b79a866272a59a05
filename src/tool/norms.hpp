// SPDX-License-Identifier: Apache-2.0
//
// Norms, means of other kinds, exponentials, and sums of more precision.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <vector>

#include <tilefold/reducers/compensated.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/norms.hpp>

#include "magnitude.hpp"
#include "reducer_fold.hpp"

namespace tilefold::tool {

template <class Wide, class Fold>
class norms : reducer_fold<Wide, Fold> {
  using base = reducer_fold<Wide, Fold>;
  using base::folded;
  using base::job;
  using base::one;

 public:
  using base::base;

  std::vector<field> run() {
    namespace r = reducers;
    switch (job().op) {
      case op_kind::geometric_mean:
        return one(folded(r::geometric_mean{}));
      case op_kind::harmonic_mean:
        return one(folded(r::harmonic_mean{}));
      case op_kind::l1:
        return one(folded(r::l1{}));
      case op_kind::l2:
        return one(folded(r::l2{}));
      case op_kind::linf:
        return one(narrow_magnitude(job().type, folded(r::linf{})));
      case op_kind::rms:
        return one(folded(r::rms{}));
      case op_kind::logsumexp:
        return one(folded(r::logsumexp{}));
      case op_kind::softmax_pair: {
        const auto found = folded(r::softmax_pair{});
        return {one_field("max", found.max), one_field("sum", found.sum)};
      }
      case op_kind::compensated_sum:
        return compensated_sum();
      case op_kind::exact_sum:
        return exact(r::exact_sum<double>{});
      case op_kind::exact_mean:
        return exact(r::exact_mean<double>{});
      case op_kind::exact_sum_of_squares:
        return exact(r::exact_sum_of_squares<double>{});
      case op_kind::exact_l2:
        return exact(r::exact_l2<double>{});
      default:
        throw std::logic_error("a reducer of another family");
    }
  }

 private:
  // The library computes it in the items' own precision.
  std::vector<field> compensated_sum() {
    if constexpr (std::is_floating_point_v<Wide>) {
      const reducers::compensated_sum reducer;
      if (job().type == dtype::float64) return one(folded(reducer));
      return one(this->template folded_as<float>(reducer));
    } else {
      throw std::logic_error("a compensated sum of integers");
    }
  }

  template <class Reducer>
  std::vector<field> exact(const Reducer& reducer) {
    if constexpr (Fold::on_host) {
      return one(folded(reducer));
    } else {
      throw std::logic_error("runs on the host only");
    }
  }
};

}  // namespace tilefold::tool
