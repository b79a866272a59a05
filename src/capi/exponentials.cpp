// SPDX-License-Identifier: Apache-2.0
//
// Sums of exponentials.
#include <tilefold/reducers/log_sum_exp.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

namespace {

/// log(sum exp(x)) of softmax's pair, as logsumexp gives it.
struct log_of_pair {
  double value;

  log_of_pair() = default;
  TILEFOLD_HD log_of_pair(const r::max_and_sum& pair)
      : value(detail::canonical(detail::rounded_sum(pair.max, detail::logarithm(pair.sum)))) {}
};

}  // namespace

template <>
struct result_traits<r::max_and_sum> {
  static constexpr dtype type = dtype::float64;
  static constexpr int count = 2;
};
template <>
struct result_traits<log_of_pair> {
  static constexpr dtype type = dtype::float64;
  static constexpr int count = 1;
};

template <>
struct output_of<r::max_and_sum> : output_of_either<r::max_and_sum, log_of_pair, false> {};
template <>
struct output_of<log_of_pair> : output_of_either<r::max_and_sum, log_of_pair, true> {};

void add_exponentials(table& all) {
  all.add_real<op::logsumexp, plain<r::softmax_pair>, log_of_pair>(true);
  all.add_real<op::softmax_pair, plain<r::softmax_pair>, r::max_and_sum>(true);
}

}  // namespace tilefold::capi
