// SPDX-License-Identifier: Apache-2.0
//
// The suite of segments on a GPU with the length of the longest; and bounds around those at which
// one way is left for another: a tree a lane, trees dealt to lanes, any trees.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/checked.hpp>

#include "../support/device.cuh"
#include "../support/random.hpp"
#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {
namespace {

template <class Fold>
using run_of = segments_run<on_gpu, by_bounded_offsets, Fold>;
using folds = ::testing::Types<narrow<std::uint32_t>, index_hashes, narrow<std::uint16_t>>;

// The suite of all shapes is for programs of their own.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Segments);
INSTANTIATE_TYPED_TEST_SUITE_P(OfBoundedLengths, SanitizeSegments,
                               ::testing::Types<run_of<narrow<std::uint32_t>>>);

template <class Fold>
class BoundedSegments : public ::testing::Test {};
TYPED_TEST_SUITE(BoundedSegments, folds);

TYPED_TEST(BoundedSegments, OfRandomLengths) {
  constexpr std::int64_t most_items = 1 << 20;
  segments_of<run_of<TypeParam>> items(most_items);
  const auto shifts = items.shifts();
  shape_stream random(seed());
  for (const std::int64_t longest : {0, 1, 4, 15, 16, 17, 33, 255, 257, 512, 513, 1025, 3000}) {
    for (const std::int64_t count : {1, 31, 33, 129, 1000, 40000, 400000}) {
      std::vector<std::int64_t> lengths;
      for (std::int64_t all = 0, i = 0; i < count && all < most_items - 4000; ++i) {
        lengths.push_back(random.one_in(6) ? 0 : random.below(longest + 1));
        if (i == count / 2) lengths.back() = longest;
        all += lengths.back();
      }
      const std::size_t shift = shifts[static_cast<std::size_t>(count) % shifts.size()];
      ASSERT_TRUE(items.have_their_trees(in_a_row(lengths, count % 5), shift))
          << count << " segments of up to " << longest;
    }
  }
}

// A promise that is not kept: the others have their values, and nothing else is written.
TEST(SegmentBound, IsBrokenByOneSegmentAlone) {
  cuda_executor exec;
  const int n = 100000;
  const gpu_array<int> items(std::vector<int>(n, 1));
  std::vector<int> lengths(1000, 3);
  lengths[500] = 90000;
  std::vector<int> offsets{0};
  for (const int length : lengths) offsets.push_back(offsets.back() + length);
  const gpu_array<int> told(offsets);
  for (const int bound : {3, 16, 300, 512}) {
    gpu_array<int> out(std::vector<int>(1002, -5));
    segmented_reduce(exec, items.data(), told.data(), 1000, segment_bound(bound), out.data() + 1);
    const auto got = out.to_host();
    for (std::size_t i = 0; i < 1002; ++i) {
      if (i != 501) ASSERT_EQ(got[i], i == 0 || i == 1001 ? -5 : 3) << i << ", bound " << bound;
    }
    EXPECT_THROW(segmented_reduce(checked(exec, n), items.data(), told.data(), 1000,
                                  segment_bound(bound), out.data()),
                 segment_error);
  }
}

}  // namespace
}  // namespace tilefold::test
