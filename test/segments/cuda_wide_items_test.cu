// SPDX-License-Identifier: Apache-2.0
//
// The suite of segments on a GPU under accumulators of 24 bytes, of items of awkward sizes.
#include <cstdint>

#include <gtest/gtest.h>

#include "cuda_staged.cuh"
#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {

// The suite header has more than this program runs.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SanitizeSegments);

namespace {

template <class T>
using equals = segments_run<on_gpu, of_one_length, wide<T>>;
template <class T>
using offsets = segments_run<on_gpu, by_offsets<>, wide<T>>;

using runs = ::testing::Types<equals<std::uint8_t>, offsets<std::uint8_t>, equals<three_bytes>,
                              offsets<three_bytes>, equals<three_halves>, offsets<three_halves>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfWideItems, Segments, runs);
INSTANTIATE_TYPED_TEST_SUITE_P(OfWideItems, StagedSegments, ::testing::Types<wide<std::uint8_t>>);

}  // namespace
}  // namespace tilefold::test
