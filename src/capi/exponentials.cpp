// SPDX-License-Identifier: Apache-2.0
//
// Sums of exponentials.
#include <tilefold/reducers/log_sum_exp.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

template <>
struct result_traits<r::max_and_sum> : doubles<2> {};

#if defined(__CUDACC__)

namespace {

/// log(sum exp(x)) of softmax's pair, as logsumexp gives it.
struct log_of_pair {
  double value;

  TILEFOLD_HD explicit log_of_pair(const r::max_and_sum& pair)
      : value(detail::canonical(detail::rounded_sum(pair.max, detail::logarithm(pair.sum)))) {}
};

}  // namespace

template <>
struct result_traits<log_of_pair> : doubles<1> {};

template <>
struct output_of<r::max_and_sum> : output_of_either<r::max_and_sum, log_of_pair, false> {};
template <>
struct output_of<log_of_pair> : output_of_either<r::max_and_sum, log_of_pair, true> {};

using make_logsumexp = plain<r::softmax_pair>;
using logsumexp_result = log_of_pair;

#else
using make_logsumexp = plain<r::logsumexp>;
using logsumexp_result = double;
#endif

void add_exponentials(table& all) {
  all.add_real<op::logsumexp, make_logsumexp, logsumexp_result>(true);
  all.add_real<op::softmax_pair, plain<r::softmax_pair>, r::max_and_sum>(true);
}

}  // namespace tilefold::capi
