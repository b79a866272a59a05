// SPDX-License-Identifier: Apache-2.0
//
// Sums of exponentials.
#include <tilefold/reducers/log_sum_exp.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

template <>
struct result_traits<r::max_and_sum> {
  static constexpr dtype type = dtype::float64;
  static constexpr int count = 2;
};

void add_exponentials(table& all) {
  all.add_real<op::logsumexp, plain<r::logsumexp>, double>(true);
  all.add_real<op::softmax_pair, plain<r::softmax_pair>, r::max_and_sum>(true);
}

}  // namespace tilefold::capi
