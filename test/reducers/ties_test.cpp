// SPDX-License-Identifier: Apache-2.0
//
// The first and the last of equal extremes, against std.
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/seed.hpp"
#include "ties.hpp"

namespace tilefold::test {
namespace {

template <class T>
class Ties : public ::testing::Test {};
using values = ::testing::Types<float, double, std::uint8_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Ties, values);

TYPED_TEST(Ties, AreThoseOfStd) {
  host_executor exec;
  for (const std::int64_t n : {1, 2, 3, 8, 33, 255, 1000, 300007}) {
    for (const std::int64_t kinds : {1, 2, 5, 100}) {
      const auto x = items_with_ties<TypeParam>(n, kinds, seed());
      const auto expected = places_by_std(x);
      ASSERT_EQ(places_by_pairs(exec, x.data(), n), expected) << "n = " << n << ", " << kinds;
      ASSERT_EQ(places_one_by_one(exec, x.data(), n), expected) << "n = " << n << ", " << kinds;
    }
  }
}

TYPED_TEST(Ties, OfVerbsAreThoseOfStd) {
  const auto x = items_with_ties<TypeParam>(1000, 3, seed());
  const auto expected = places_by_std(x);
  const auto index = [&](auto it) { return it - x.begin(); };
  EXPECT_EQ(index(min_element(x)), expected[0]);
  EXPECT_EQ(index(min_element(x.begin(), x.end(), last_of_equal)), expected[1]);
  EXPECT_EQ(index(max_element(x, first_of_equal)), expected[2]);
  EXPECT_EQ(index(max_element(host_executor(), x, last_of_equal)), expected[3]);
  EXPECT_EQ(minmax_element(x, first_of_equal, last_of_equal),
            std::minmax_element(x.begin(), x.end()));
  EXPECT_EQ(index(minmax_element(x).second), expected[2]);
  for (const auto& [least, greatest] :
       {minmax_element(x, last_of_equal), minmax_element(x, std::less<>(), last_of_equal),
        minmax_element(x, last_of_equal, std::less<>())}) {
    EXPECT_EQ(index(least), expected[1]) << "one rule is that of both";
    EXPECT_EQ(index(greatest), expected[3]) << "one rule is that of both";
  }
  EXPECT_EQ(index(min_element(x, last_of_equal, std::less<>())), expected[1]);
  EXPECT_EQ(index(max_element(x, last_of_equal, std::less<>())), expected[3]);
  EXPECT_EQ(minmax_element(x, first_of_equal, last_of_equal, std::less<>()),
            std::minmax_element(x.begin(), x.end()));
  const std::vector<TypeParam> none;
  EXPECT_EQ(max_element(none, last_of_equal), none.end());
}

// Counted within each segment.
TEST(TiesOfSegments, AreThoseOfEachSegment) {
  const auto x = items_with_ties<float>(1000, 2, seed());
  const std::vector<int> offsets{0, 1, 300, 301, 1000};
  std::vector<r::indexed_extremes<float>> found(4);
  tilefold::segmented_reduce(x.begin(), offsets.begin(), 4, found.begin(),
                             if_empty(first_and_last{}, r::indexed_extremes<float>{}));
  for (std::size_t s = 0; s < 4; ++s) {
    const auto places =
        places_by_std(std::vector<float>(x.begin() + offsets[s], x.begin() + offsets[s + 1]));
    EXPECT_EQ(found[s].min.index, places[0]) << s;
    EXPECT_EQ(found[s].max.index, places[3]) << s;
  }
}

TEST(TiesOfNaN, AreTheFirstOrTheLastOne) {
  const std::vector<float> x{1, NAN, 3, NAN, 3, 1};
  const auto [least, greatest] = tilefold::reduce(x, first_and_last{});
  EXPECT_EQ(least.index, 1);
  EXPECT_EQ(greatest.index, 3);
  constexpr auto ignore = nan_rule::ignore;
  EXPECT_EQ(tilefold::reduce(x, r::arg_max<ignore, tie_rule::last>{}).index, 4);
  EXPECT_EQ(tilefold::reduce(x, r::arg_min<ignore, tie_rule::last>{}).index, 5);
  // Zeros are no ties: -0 is less than +0.
  const std::vector<float> zeros{0.0f, -0.0f, 0.0f, -0.0f};
  EXPECT_EQ(min_element(zeros, last_of_equal) - zeros.begin(), 3);
  EXPECT_EQ(max_element(zeros, last_of_equal) - zeros.begin(), 2);
}

struct version {
  int major, minor;
  friend bool operator<(const version& a, const version& b) { return a.major < b.major; }
};

TEST(TiesOfStructs, AreThoseOfStd) {
  const std::vector<version> x{{2, 0}, {1, 1}, {2, 2}, {1, 3}, {2, 4}, {1, 5}};
  const auto [least, greatest] = minmax_element(x, first_of_equal, last_of_equal);
  EXPECT_EQ(least->minor, 1);
  EXPECT_EQ(greatest->minor, 4);
  EXPECT_EQ(min_element(x, last_of_equal)->minor, 5);
}

}  // namespace
}  // namespace tilefold::test
