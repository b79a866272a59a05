// SPDX-License-Identifier: Apache-2.0
//
// Minima, maxima, their places and top_k against a search in order, for types of every size and
// both rules for NaN.
#include <tilefold/reducers/arg.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/items.hpp"
#include "../support/seed.hpp"
#include "cases.hpp"
#include "places.hpp"

namespace tilefold::test {
namespace {

template <class T>
class Places : public ::testing::Test {
 protected:
  template <class Found>
  void expect_place(const std::vector<T>& x, std::int64_t place, const Found& found) {
    ASSERT_EQ(found.index, place);
    ASSERT_EQ(bits_of(found.value),
              bits_of(detail::canonical(T(x[static_cast<std::size_t>(place)]))));
  }

  template <nan_rule Rule>
  void expect_all(const std::vector<T>& x) {
    const auto least = places_in_order<T>(x, false, Rule);
    const auto greatest = places_in_order<T>(x, true, Rule);
    expect_place(x, least[0], tilefold::reduce(x, r::arg_min<Rule>{}));
    expect_place(x, greatest[0], tilefold::reduce(x, r::arg_max<Rule>{}));
    const auto both = tilefold::reduce(x, r::arg_minmax<Rule>{});
    expect_place(x, least[0], both.min);
    expect_place(x, greatest[0], both.max);
    EXPECT_EQ(bits_of(tilefold::reduce(x, r::min<Rule>{})), bits_of(both.min.value));
    EXPECT_EQ(bits_of(tilefold::reduce(x, r::max<Rule>{})), bits_of(both.max.value));
    EXPECT_EQ(bits_of(tilefold::reduce(x, r::minmax<Rule>{})),
              bits_of(both.min.value) + bits_of(both.max.value));
    expect_list(x, greatest, tilefold::reduce(x, r::top_k<1, Rule>{}), 1);
    expect_list(x, greatest, tilefold::reduce(x, r::top_k<5, Rule>{}), 5);
    expect_list(x, least, tilefold::reduce(x, r::bottom_k<8, Rule>{}), 8);
    expect_list(x, greatest, tilefold::reduce(x, r::top_k<32, Rule>{}), 32);
  }

  template <class List>
  void expect_list(const std::vector<T>& x, const std::vector<std::int64_t>& places,
                   const List& list, std::int64_t k) {
    ASSERT_EQ(list.size(), std::min(k, static_cast<std::int64_t>(x.size())));
    for (std::int64_t i = 0; i < list.size(); ++i) {
      expect_place(x, places[static_cast<std::size_t>(i)], list[i]);
    }
  }
};
/// ties_test and definition_test ask for those of std::uint8_t, std::int32_t and std::int64_t.
using values = ::testing::Types<float, double, half, bfloat16, bool, std::int8_t, std::int16_t,
                                std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Places, values);

TYPED_TEST(Places, AreThoseOfASearch) {
  for (const pattern p : patterns_of<TypeParam>()) {
    for (const std::int64_t n : {1, 2, 3, 8, 31, 33, 257, 3000}) {
      SCOPED_TRACE(std::string(name_of(p)) + ", n = " + std::to_string(n));
      const auto x = make_items<TypeParam>(p, n, seed());
      this->template expect_all<nan_rule::propagate>(x);
      this->template expect_all<nan_rule::ignore>(x);
      if (this->HasFatalFailure()) return;
    }
  }
}

TEST(PlacesOfFloats, OfNothingButOneValue) {
  for (const float value : {1.0f, INFINITY, -INFINITY, NAN}) {
    const std::vector<float> x(100, value);
    EXPECT_EQ(tilefold::reduce(x, r::arg_min{}).index, 0) << value;
    EXPECT_EQ(tilefold::reduce(x, r::arg_max{}).index, 0) << value;
    EXPECT_EQ(tilefold::reduce(x, r::arg_min<nan_rule::ignore>{}).index, 0) << value;
    EXPECT_EQ(bits_of(tilefold::reduce(x, r::arg_max<nan_rule::ignore>{}).value), bits_of(value));
  }
}

TEST(PlacesOfFloats, HaveTheFirstNaNOrNone) {
  std::vector<float> x(1000, 2.0f);
  x[3] = 1;
  for (const std::int64_t place : {0, 500, 999}) {
    auto y = x;
    y[static_cast<std::size_t>(place)] = -NAN;
    y[999] = NAN;
    EXPECT_EQ(tilefold::reduce(y, r::arg_min{}).index, place);
    EXPECT_EQ(tilefold::reduce(y, r::arg_max{}).index, place);
    EXPECT_EQ(tilefold::reduce(y, r::arg_min<nan_rule::ignore>{}).index, 3);
  }
}

TEST(PlacesOfOthers, AreFoundByTheirLess) {
  const std::vector<long double> x{2, -0.0L, 0.0L, NAN, -3};
  EXPECT_EQ(tilefold::reduce(x, r::arg_min{}).index, 3);
  EXPECT_EQ(tilefold::reduce(x, r::arg_min<nan_rule::ignore>{}).index, 4);
  EXPECT_EQ(tilefold::reduce(x, r::arg_max<nan_rule::ignore>{}).index, 0);
  struct version {
    int major, minor;
    bool operator<(const version& other) const {
      return major != other.major ? major < other.major : minor < other.minor;
    }
  };
  const std::vector<version> versions{{1, 2}, {0, 9}, {1, 7}, {1, 7}, {0, 9}};
  EXPECT_EQ(tilefold::reduce(versions, r::arg_max{}).index, 2);
  EXPECT_EQ(tilefold::reduce(versions, r::arg_min{}).index, 1);
}

struct point {
  float x, y, z;
};

TEST(PlacesByKey, FindTheFarthestPoint) {
  bit_stream random(seed());
  std::vector<point> points;
  for (int i = 0; i < 5000; ++i) {
    const auto coordinate = [&] { return static_cast<float>(random.below(2001) - 1000); };
    points.push_back({coordinate(), coordinate(), coordinate()});
  }
  const auto distance = [](const point& p) { return p.x * p.x + p.y * p.y + p.z * p.z; };
  const auto found = tilefold::reduce(points, r::arg_min_by{distance, farther{}});
  const auto expected =
      std::max_element(points.begin(), points.end(),
                       [&](const point& a, const point& b) { return distance(a) < distance(b); });
  EXPECT_EQ(found.index, expected - points.begin());
  EXPECT_EQ(found.value, distance(*expected));
  EXPECT_EQ(tilefold::reduce(std::vector<int>{5, -3, 3}, r::arg_min_by{distance_from_two{}}).index,
            2);
}

// A NaN that the key makes has the sign that the processor gives it.
TEST(PlacesByKey, PutNanBehindAllNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float made : {nan, -nan}) {
    const auto key = [=](int x) { return x < 0 ? made : static_cast<float>(x); };
    const auto found = tilefold::reduce(std::vector<int>{-1, 4, -2, 1, -3, 3}, r::arg_min_by{key});
    EXPECT_EQ(found.index, 3);
    EXPECT_EQ(found.value, 1.0f);
    const auto none = tilefold::reduce(std::vector<int>{-1, -2, -3}, r::arg_min_by{key});
    EXPECT_EQ(none.index, 0);
    EXPECT_EQ(std::memcmp(&none.value, &nan, sizeof nan), 0);
  }
}

}  // namespace
}  // namespace tilefold::test
