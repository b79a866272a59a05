// SPDX-License-Identifier: Apache-2.0
//
// The suite of segments on a GPU under reducers whose accumulators are large: lanes fold runs of
// neighbours, and nodes of equally many items are joined in a way of their own.
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "cuda_staged.cuh"
#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {
namespace {

template <class T>
using equals = segments_run<on_gpu, of_one_length, statistics_of<T>>;
template <class T>
using offsets = segments_run<on_gpu, by_offsets<>, statistics_of<T>>;

using runs =
    ::testing::Types<equals<float>, offsets<float>, equals<double>, offsets<double>, offsets<half>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfStatistics, Segments, runs);
INSTANTIATE_TYPED_TEST_SUITE_P(OfStatistics, SanitizeSegments, runs);
INSTANTIATE_TYPED_TEST_SUITE_P(OfStatistics, StagedSegments, statistics_of<half>);

// More trees than warps are for: by warps alone.
TEST(SegmentsOfStatistics, ManyOfOneLength) {
  segments_of<equals<float>> items(5000 * 1024);
  for (const std::int64_t length : {64, 1000, 1024}) {
    ASSERT_TRUE(items.have_their_trees(of_length(5000, length), 0)) << length;
  }
}

}  // namespace
}  // namespace tilefold::test
