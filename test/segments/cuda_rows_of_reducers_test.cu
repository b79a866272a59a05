// SPDX-License-Identifier: Apache-2.0
//
// Rows of one length of numbers, by sums and by reducers: the host's bits, whichever kernel takes
// them.
#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/if_empty.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "cuda_rows.cuh"
#include "folds.hpp"

namespace tilefold::test {
namespace {

namespace r = tilefold::reducers;

template <class Acc>
struct sum_rows {
  template <class Exec, class It, class Out>
  void operator()(Exec&& exec, It first, const rows& of, Out* out) const {
    tilefold::segmented_reduce_into<Acc>(exec, first, of.num, of.length, out);
  }
};

template <class Reducer>
struct reduce_rows {
  template <class Exec, class It, class Out>
  void operator()(Exec&& exec, It first, const rows& of, Out* out) const {
    tilefold::segmented_reduce_into(exec, first, of.num, of.length, out,
                                    if_empty(Reducer{}, Out{}));
  }
};

struct statistics_of_rows {
  template <class Exec, class It>
  void operator()(Exec&& exec, It first, const rows& of, statistics* out) const {
    tilefold::segmented_reduce_into(exec, first, of.num, of.length, out,
                                    statistics_of<float>::initial(), four_statistics{});
  }
};

TEST(CudaRowsOfReducers, OfHalvesIntoFloats) {
  have_the_hosts_bits<float, half>(shapes(), sum_rows<float>{});
}

TEST(CudaRowsOfReducers, OfFloatsAndDoubles) {
  have_the_hosts_bits<float, float>(shapes(), sum_rows<float>{});
  have_the_hosts_bits<double, double>(shapes(), sum_rows<double>{});
}

TEST(CudaRowsOfReducers, OfReducersWithLargeAccumulators) {
  have_the_hosts_bits<double, float>(shapes(), reduce_rows<r::mean>{});
  have_the_hosts_bits<double, float>(shapes(), reduce_rows<r::logsumexp>{});
  have_the_hosts_bits<statistics, float>(shapes(), statistics_of_rows{});
}

TEST(CudaRowsOfReducers, OfIndices) {
  have_the_hosts_bits<r::indexed_value<float>, float>(shapes(), reduce_rows<r::arg_min<>>{});
}

TEST(CudaRowsOfReducers, SanitizeLargeAccumulators) {
  have_the_hosts_bits<statistics, float>({{2, 300}, {2, 20000}}, statistics_of_rows{});
}

}  // namespace
}  // namespace tilefold::test
