// SPDX-License-Identifier: Apache-2.0
//
// The suite of segments on a GPU under accumulators of 24 bytes: of floats, behind an iterator,
// and where nodes of equally many items are joined in a way of their own.
#include <cstdint>

#include <thrust/iterator/transform_iterator.h>

#include <gtest/gtest.h>

#include "cuda_staged.cuh"
#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {

struct one_more {
  TILEFOLD_HD std::uint32_t operator()(std::uint32_t x) const { return x + 1; }
};

/// Items that an iterator computes.
struct wide_of_more : wide<std::uint32_t> {
  static auto first(const std::uint32_t* at) {
    return thrust::make_transform_iterator(at, one_more{});
  }
  static auto lift(std::uint32_t item, std::int64_t index) {
    return wide<std::uint32_t>::lift(item + 1, index);
  }
};

namespace {

template <class T>
using equals = segments_run<on_gpu, of_one_length, wide<T>>;
template <class T>
using offsets = segments_run<on_gpu, by_offsets<>, wide<T>>;
using among_equals = wide<std::uint32_t, among_equals_hashes>;

using runs = ::testing::Types<equals<float>, offsets<float>,
                              segments_run<on_gpu, of_one_length, among_equals>,
                              segments_run<on_gpu, by_offsets<>, among_equals>,
                              segments_run<on_gpu, of_one_length, wide_of_more>,
                              segments_run<on_gpu, by_offsets<>, wide_of_more>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfWideHashes, Segments, runs);
INSTANTIATE_TYPED_TEST_SUITE_P(OfWideHashes, SanitizeSegments, ::testing::Types<offsets<float>>);
INSTANTIATE_TYPED_TEST_SUITE_P(OfWideHashes, StagedSegments, ::testing::Types<among_equals>);

}  // namespace
}  // namespace tilefold::test
