// SPDX-License-Identifier: Apache-2.0
//
// Deferred sizes on the host: what counts as which size, what is left as it was, and what checked()
// says. That the tree is that of the plain call the suite of segments shows.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

namespace tilefold {
namespace {

const std::vector<float> items{1, 2, 4, 8, 16, 32};
const std::vector<int> offsets{0, 2, 2, 5, 6};

template <class Size>
std::vector<float> sums_of(Size size, int most) {
  host_executor exec;
  std::vector<float> out(4, -1.0f);
  segmented_reduce(exec, items.begin(), offsets.begin(), deferred(&size, most), out.begin(), 0.0f);
  return out;
}

TEST(Deferred, SegmentsBehindTheNumberAreLeft) {
  EXPECT_EQ(sums_of(std::int64_t{4}, 4), (std::vector<float>{3, 0, 28, 32}));
  EXPECT_EQ(sums_of(std::uint8_t{3}, 4), (std::vector<float>{3, 0, 28, -1}));
  EXPECT_EQ(sums_of(0, 4), (std::vector<float>(4, -1.0f)));
  EXPECT_EQ(sums_of(0, 0), (std::vector<float>(4, -1.0f)));
}

TEST(Deferred, NumbersOutOfRangeCountAsTheNearest) {
  EXPECT_EQ(sums_of(-1, 4), (std::vector<float>(4, -1.0f)));
  EXPECT_EQ(sums_of(~std::uint64_t{0}, 3), (std::vector<float>{3, 0, 28, -1}));
}

template <class Size>
float sum_of(Size size, int most) {
  host_executor exec;
  float out = -1;
  reduce_into(exec, items.begin(), deferred(&size, most), &out);
  return out;
}

TEST(Deferred, ItemsOfOneRange) {
  EXPECT_EQ(sum_of(5, 6), 31.0f);
  EXPECT_EQ(sum_of(6u, 6), 63.0f);
  EXPECT_EQ(sum_of(7, 6), 63.0f);
  EXPECT_EQ(sum_of(-7, 6), 0.0f);
}

template <class Call>
std::string complaint_of(const Call& call) {
  try {
    call();
  } catch (const invalid_range_error& e) {
    return e.what();
  }
  return "";
}

TEST(Deferred, AreCheckedBeforeTheyAreFollowed) {
  host_executor exec;
  std::vector<float> out(4, -1.0f);
  std::int64_t size = 5;
  const auto segments = [&] {
    segmented_reduce(checked(exec, 6), items.begin(), offsets.begin(), deferred(&size, 4),
                     out.begin());
  };
  EXPECT_EQ(complaint_of(segments), "tilefold: a deferred size is 5, not one of 0 to 4");
  size = -2;
  EXPECT_EQ(complaint_of(segments), "tilefold: a deferred size is -2, not one of 0 to 4");
  size = 9;
  EXPECT_EQ(complaint_of([&] {
              reduce_into(checked(exec, 6), items.begin(), deferred(&size, 20), out.begin());
            }),
            "tilefold: a deferred size is 9, more than the 6 items");
  EXPECT_EQ(complaint_of([&] { deferred(&size, -3); }),
            "tilefold::deferred: the most that a size can be is -3");
  EXPECT_EQ(complaint_of([&] { deferred_size<std::int64_t>(&size, -3); }),
            "tilefold::deferred: the most that a size can be is -3");
  // Of no segments at all, too.
  size = 5;
  EXPECT_EQ(complaint_of([&] {
              segmented_reduce(checked(exec, 6), items.begin(), offsets.begin(), deferred(&size, 0),
                               out.begin());
            }),
            "tilefold: a deferred size is 5, not one of 0 to 0");
  EXPECT_EQ(out, std::vector<float>(4, -1.0f));
  size = 0;
  segmented_reduce(checked(exec, 6), items.begin(), offsets.begin(), deferred(&size, 0),
                   out.begin());
  size = 4;
  segments();
  EXPECT_EQ(out, (std::vector<float>{3, -0.0f, 28, 32}));
}

}  // namespace
}  // namespace tilefold
