// SPDX-License-Identifier: Apache-2.0
//
// The library's exp and log against the long double ones, where those have more bits than a double.
#include <tilefold/detail/core/real_math.hpp>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "../../support/items.hpp"
#include "../../support/seed.hpp"

namespace tilefold {
namespace {

/// The distance of `got` from `exact` in units of the last place of a double there.
long double ulps(double got, long double exact) {
  int exponent = 0;
  (void)std::frexp(exact, &exponent);
  const int last_place = std::max(exponent - DBL_MANT_DIG, DBL_MIN_EXP - DBL_MANT_DIG);
  return std::fabs(static_cast<long double>(got) - exact) / std::ldexp(1.0L, last_place);
}

double uniform(test::bit_stream& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.next() >> 11) * 0x1p-53;
}

class RealMath : public ::testing::Test {
 protected:
  void SetUp() override {
    if (LDBL_MANT_DIG < 64) GTEST_SKIP() << "long double is no better than double here";
  }
  test::bit_stream random{test::seed()};
};

TEST_F(RealMath, ExponentialIsWithinOneUnitInTheLastPlace) {
  long double worst = 0;
  for (int i = 0; i < 2000000; ++i) {
    const double range = i % 4 == 0 ? 1.0 : i % 4 == 1 ? 40.0 : 745.0;
    const double x = uniform(random, -range, i % 4 == 2 ? 0.0 : std::min(range, 709.7));
    const long double error = ulps(detail::exponential(x), std::exp(static_cast<long double>(x)));
    worst = std::max(worst, error);
    ASSERT_LE(error, 0.94L) << x;
  }
  RecordProperty("worst_ulps", std::to_string(worst));
}

TEST_F(RealMath, LogarithmIsWithinOneUnitInTheLastPlace) {
  long double worst = 0;
  for (int i = 0; i < 2000000; ++i) {
    const double x =
        i % 2 == 0 ? std::bit_cast<double>(random.next() >> 1) : uniform(random, 0.5, 2.0);
    if (!(x > 0) || std::isinf(x)) continue;
    const long double error = ulps(detail::logarithm(x), std::log(static_cast<long double>(x)));
    worst = std::max(worst, error);
    ASSERT_LE(error, 1.0L) << x;
  }
  RecordProperty("worst_ulps", std::to_string(worst));
}

TEST(RealMathEdges, OfTheExponential) {
  EXPECT_EQ(detail::exponential(0.0), 1.0);
  EXPECT_EQ(detail::exponential(-0.0), 1.0);
  EXPECT_EQ(detail::exponential(INFINITY), INFINITY);
  EXPECT_EQ(detail::exponential(-INFINITY), 0.0);
  EXPECT_EQ(detail::exponential(1e300), INFINITY);
  EXPECT_EQ(detail::exponential(-1e300), 0.0);
  EXPECT_TRUE(std::isnan(detail::exponential(NAN)));
  // The last finite one, the first infinite one, the smallest and the first zero.
  EXPECT_LT(detail::exponential(0x1.62e42fefa39efp9), INFINITY);
  EXPECT_EQ(detail::exponential(0x1.62e42fefa39f0p9), INFINITY);
  EXPECT_EQ(detail::exponential(-745.13), 0x1p-1074);
  EXPECT_EQ(detail::exponential(-745.14), 0.0);
}

TEST(RealMathEdges, OfTheLogarithm) {
  EXPECT_EQ(detail::logarithm(1.0), 0.0);
  EXPECT_FALSE(std::signbit(detail::logarithm(1.0)));
  EXPECT_EQ(detail::logarithm(0.0), -INFINITY);
  EXPECT_EQ(detail::logarithm(-0.0), -INFINITY);
  EXPECT_EQ(detail::logarithm(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(detail::logarithm(-1.0)));
  EXPECT_TRUE(std::isnan(detail::logarithm(NAN)));
  EXPECT_NEAR(detail::logarithm(0x1p-1074), -744.44007192138126, 1e-12);
  EXPECT_EQ(detail::logarithm(2.0), 0x1.62e42fefa39efp-1);
}

}  // namespace
}  // namespace tilefold
