// SPDX-License-Identifier: Apache-2.0
//
// The suite of segments on a GPU, in every form, over items that are their own index.
#include <cstdint>

#include <gtest/gtest.h>

#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {

namespace {

using runs = ::testing::Types<segments_run<on_gpu, of_one_length, index_hashes>,
                              segments_run<on_gpu, by_offsets<>, index_hashes>,
                              segments_run<on_gpu, by_begins_and_ends<>, index_hashes>,
                              segments_run<on_gpu, as_arrays, index_hashes>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfIndices, Segments, runs);
using sanitized = ::testing::Types<segments_run<on_gpu, of_one_length, index_hashes>,
                                   segments_run<on_gpu, by_offsets<>, index_hashes>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfIndices, SanitizeSegments, sanitized);

// One width with a sign and one without, besides those of the suite; the host has all
// (host_test.cpp).
TEST(SegmentsOnGpu, TakeOffsetsOfEveryKind) {
  takes_offsets_of<on_gpu, std::int8_t>();
  takes_offsets_of<on_gpu, std::uint32_t>();
}

}  // namespace
}  // namespace tilefold::test
