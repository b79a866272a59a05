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

// Results are made in code of their own: kernels of rows have a store for every node of a tree in
// registers, and would have this at each.

struct pair_apart : r::softmax_pair {
  template <class Acc>
  TILEFOLD_HD __noinline__ r::max_and_sum project(const Acc& acc) const {
    return r::softmax_pair::project(acc);
  }
};

TILEFOLD_HD __noinline__ void write_logarithm(const r::max_and_sum& pair, dtype type, char* to) {
  const double sum = detail::rounded_sum(pair.max, detail::logarithm(pair.sum));
  capi::write_rounded(detail::canonical(sum), type, to);
}

/// log(sum exp(x)) of softmax's pair, as logsumexp gives it.
struct log_of_pair {
  r::max_and_sum pair;

  TILEFOLD_HD explicit log_of_pair(const r::max_and_sum& of) : pair(of) {}
  TILEFOLD_HD void write(dtype type, char* to) const { write_logarithm(pair, type, to); }
};

}  // namespace

}  // namespace tilefold::capi

template <>
struct tilefold::detail::ways<tilefold::capi::pair_apart> : ways<tilefold::reducers::softmax_pair> {
};

namespace tilefold::capi {

template <>
struct result_traits<log_of_pair> : doubles<1> {};

template <>
struct output_of<r::max_and_sum> : output_of_either<r::max_and_sum, log_of_pair, false> {};
template <>
struct output_of<log_of_pair> : output_of_either<r::max_and_sum, log_of_pair, true> {};

using make_logsumexp = plain<pair_apart>;
using make_pair = plain<pair_apart>;
using logsumexp_result = log_of_pair;

#else
using make_logsumexp = plain<r::logsumexp>;
using make_pair = plain<r::softmax_pair>;
using logsumexp_result = double;
#endif

void add_exponentials(table& all) {
  all.add_real<op::logsumexp, make_logsumexp, logsumexp_result>(true);
  all.add_real<op::softmax_pair, make_pair, r::max_and_sum>(true);
}

}  // namespace tilefold::capi
