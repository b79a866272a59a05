// SPDX-License-Identifier: Apache-2.0
//
// The bound of segments' lengths on the host: what checked() says, and which bounds there are. That
// bits are those of the plain call the suite of segments shows.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

namespace tilefold {
namespace {

const std::vector<float> items{1, 2, 4, 8, 16, 32};

template <class Offset>
std::vector<float> sums_of(const std::vector<Offset>& offsets, segment_bound longest) {
  host_executor exec;
  std::vector<float> out(offsets.size() - 1, -1.0f);
  segmented_reduce(checked(exec, items.size()), items.begin(), offsets.begin(), out.size(), longest,
                   out.begin(), 0.0f);
  return out;
}

template <class Call>
std::string complaint_of(const Call& call) {
  try {
    call();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(SegmentBound, MayBeTheLongestOrMore) {
  const std::vector<int> offsets{0, 2, 2, 5, 6};
  const std::vector<float> expected{3, 0, 28, 32};
  EXPECT_EQ(sums_of(offsets, segment_bound(3)), expected);
  EXPECT_EQ(sums_of(offsets, segment_bound(std::uint8_t{200})), expected);
  EXPECT_EQ(sums_of(offsets, segment_bound(std::numeric_limits<std::int64_t>::max())), expected);
  EXPECT_EQ(sums_of(std::vector<unsigned>{4, 4, 4}, segment_bound(0)), (std::vector<float>{0, 0}));
}

TEST(SegmentBound, IsChecked) {
  const std::vector<std::uint8_t> offsets{0, 2, 2, 5, 6};
  EXPECT_EQ(complaint_of([&] { sums_of(offsets, segment_bound(2)); }),
            "tilefold: segment 2, [2, 5), is longer than the bound of 2 items");
  EXPECT_EQ(complaint_of([&] { sums_of(offsets, segment_bound(0)); }),
            "tilefold: segment 0, [0, 2), is longer than the bound of 0 items");
  // What is worse than too long is said first.
  EXPECT_EQ(complaint_of([] { sums_of(std::vector<int>{0, 5, 3, 4}, segment_bound(2)); }),
            "tilefold: segment 1, [5, 3), ends before it begins");
  EXPECT_EQ(complaint_of([] { segment_bound(-3); }),
            "tilefold::segment_bound: the most items of a segment is -3");
}

TEST(SegmentBound, WithoutAnExecutorAndWithAReducer) {
  const std::vector<int> offsets{0, 2, 5, 6};
  std::vector<float> out(3);
  segmented_reduce(items.begin(), offsets.begin(), 3, segment_bound(3), out.begin(), maximum{});
  EXPECT_EQ(out, (std::vector<float>{2, 16, 32}));
}

}  // namespace
}  // namespace tilefold
