// SPDX-License-Identifier: Apache-2.0
//
// The suite of segments on a GPU where items have places: behind an iterator that counts, and with
// reducers that yield indices.
#include <cstdint>

#include <thrust/iterator/counting_iterator.h>

#include <gtest/gtest.h>

#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {

// The suite header has more than this program runs.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SanitizeSegments);

/// Items that no pointer leads to.
struct counted_hashes : index_hashes {
  static auto first(const std::uint32_t*) {
    return thrust::make_counting_iterator(std::uint32_t{0});
  }
};

namespace {

using runs = ::testing::Types<segments_run<on_gpu, by_begins_and_ends<>, counted_hashes>,
                              segments_run<on_gpu, under_policy<as_arrays, 64, 4>, counted_hashes>,
                              segments_run<on_gpu, of_one_length, places>,
                              segments_run<on_gpu, by_offsets<>, places>,
                              segments_run<on_gpu, by_begins_and_ends<>, places>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfPlaces, Segments, runs);

}  // namespace
}  // namespace tilefold::test
