// SPDX-License-Identifier: Apache-2.0
//
// Compensated sums against sums in a type with more than twice the bits, with the stated bound;
// data on which plain sums lose everything.
#include <tilefold/reducers/compensated.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/items.hpp"
#include "../support/seed.hpp"

namespace tilefold {
namespace {

namespace r = reducers;

// Exact sums of the test's data as multiples of the smallest bit in it: 2^-90 for doubles of
// "mixed", 2^-40 for floats. Products of floats have 2^-80.
using wide = __int128;

template <class T>
wide units(T x, int bits) {
  return static_cast<wide>(std::ldexp(static_cast<long double>(x), bits));
}

long double value_of(wide sum, int bits) {
  return std::ldexp(static_cast<long double>(sum), -bits);
}

template <class T>
void expect_sum(const std::vector<T>& x, int bits) {
  wide sum = 0;
  wide size = 0;
  for (const T item : x) {
    sum += units(item, bits);
    size += units(std::fabs(item), bits);
  }
  const long double u = std::numeric_limits<T>::epsilon() / 2;
  const long double depth = std::ceil(std::log2(static_cast<long double>(x.size()))) + 1;
  const T got = tilefold::reduce(x, r::compensated_sum{});
  const wide error = units(got, bits) - sum;
  EXPECT_LE(std::fabs(value_of(error, bits)),
            u * std::fabs(value_of(sum, bits)) + depth * depth * u * u * value_of(size, bits))
      << x.size();
}

TEST(CompensatedSum, KeepsItsBound) {
  for (const std::int64_t n : {1, 2, 3, 10, 1000, 30001}) {
    const auto x = test::make_items<float>(test::pattern::mixed, n, test::seed());
    expect_sum(x, 40);
    const auto y = test::make_items<double>(test::pattern::mixed, n, test::seed());
    expect_sum(y, 68);
  }
}

TEST(CompensatedSum, KeepsWhatAPlainSumLoses) {
  const std::vector<double> x{1e100, 1, -1e100, 2};
  EXPECT_EQ(tilefold::reduce(x), 0.0);
  EXPECT_EQ(tilefold::reduce(x, r::compensated_sum{}), 3.0);
  std::vector<float> y(100000, 1e-4f);
  y[0] = 1e8f;
  y[1] = -1e8f;
  EXPECT_FLOAT_EQ(tilefold::reduce(y, r::compensated_sum{}), 99998 * 1e-4f);
}

TEST(CompensatedSum, OfSpecialValues) {
  const float big = std::numeric_limits<float>::max();
  const auto sum = [](std::vector<float> x) { return tilefold::reduce(x, r::compensated_sum{}); };
  EXPECT_EQ(sum({1, INFINITY, 2}), INFINITY);
  EXPECT_EQ(sum({INFINITY}), INFINITY);
  EXPECT_EQ(sum({-INFINITY, 1}), -INFINITY);
  EXPECT_TRUE(std::isnan(sum({INFINITY, 1, -INFINITY})));
  EXPECT_TRUE(std::isnan(sum({1, NAN})));
  EXPECT_EQ(sum({big, big}), INFINITY);
  EXPECT_TRUE(std::signbit(sum({-0.0f, -0.0f, -0.0f})));
  EXPECT_FALSE(std::signbit(sum({-0.0f, 0.0f})));
}

TEST(CompensatedDot, KeepsItsBound) {
  for (const std::int64_t n : {1, 2, 3, 10, 1000, 30001}) {
    const auto x = test::make_items<float>(test::pattern::mixed, n, test::seed());
    const auto y = test::make_items<float>(test::pattern::mixed, n, test::seed() + 1);
    wide sum = 0;
    wide size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double product = static_cast<double>(x[i]) * y[i];
      sum += units(product, 80);
      size += units(std::fabs(product), 80);
    }
    const float got =
        tilefold::transform_reduce(x.begin(), x.end(), y.begin(), r::compensated_dot{});
    const long double depth = std::ceil(std::log2(static_cast<long double>(n))) + 2;
    const long double u = 0x1p-24L;
    EXPECT_LE(std::fabs(value_of(units(got, 80) - sum, 80)),
              u * std::fabs(value_of(sum, 80)) + depth * depth * u * u * value_of(size, 80));
  }
}

TEST(CompensatedDot, OfDoublesKeepsTheErrorsOfItsProducts) {
  const double above = 1 + 0x1p-30;
  const double below = 1 - 0x1p-30;
  const std::vector<double> x{above, 1};
  const std::vector<double> y{below, -1};
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), r::dot{}), 0.0);
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), r::compensated_dot{}),
            -0x1p-60);
}

}  // namespace
}  // namespace tilefold
