// SPDX-License-Identifier: Apache-2.0
//
// The exponential of floats: its error against long double, its exponents' order, and the same bits
// with and without the processor's fused multiply-add.
#include <tilefold/detail/core/narrow_exponential.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "../../support/items.hpp"
#include "../../support/seed.hpp"

namespace tilefold {
namespace {

/// Every step-th float of both signs up to `last`.
template <class Visit>
void visit_floats(float last, std::uint32_t step, Visit visit) {
  for (std::uint32_t bits = 0; bits <= std::bit_cast<std::uint32_t>(last); bits += step) {
    visit(std::bit_cast<float>(bits));
    visit(-std::bit_cast<float>(bits));
  }
}

TEST(NarrowExponential, KeepsItsBound) {
  long double worst = 0;
  visit_floats(3e8f, 997, [&](float x) {
    const auto e = detail::split_exponential(x);
    const long double got = 1 + static_cast<long double>(e.fraction);
    // Multiples of ln 2 in float are a little off, all in proportion.
    const long double unit = detail::float_ln2;
    const long double error = got / std::exp(x - e.exponent * unit) - 1;
    worst = std::max(worst, std::fabs(error));
    ASSERT_LE(std::fabs(error), 0x1.ep-26L) << x;
    ASSERT_LE(std::fabs(static_cast<long double>(x) - e.exponent * unit), 0.348L) << x;
  });
  RecordProperty("worst", std::to_string(std::log2(worst)));
  EXPECT_EQ(detail::split_exponential(0.0f).fraction, 0.0f);
  EXPECT_EQ(detail::split_exponential(-0.0f).exponent, 0);
}

// Between floats of any size that are near enough to matter to each other.
TEST(NarrowExponential, HasTheRatioOfNeighbours) {
  test::bit_stream random(test::seed());
  for (int trial = 0; trial < 400000; ++trial) {
    const float size = std::ldexp(1.0f, static_cast<int>(random.below(45)) - 16);
    const auto fraction = [&] { return static_cast<float>(random.next() >> 40) * 0x1p-24f; };
    // Every other pair astride 2^17, where another formula begins.
    const float magnitude = trial % 2 == 0 ? 0x1p17f + 20.0f * fraction() : size * (1 + fraction());
    const float x = random.one_in(2) ? -magnitude : magnitude;
    const float y = x - 40.0f * fraction();
    const auto a = detail::split_exponential(x);
    const auto b = detail::split_exponential(y);
    ASSERT_LE(b.exponent, a.exponent) << x << ", " << y;
    const long double ratio = std::ldexp(
        (1 + static_cast<long double>(b.fraction)) / (1 + static_cast<long double>(a.fraction)),
        b.exponent - a.exponent);
    const long double exact = std::exp(static_cast<long double>(y) - static_cast<long double>(x));
    // Of those below 2^29 - 32 all, of others none but themselves.
    if (std::fabs(x) < 0x1p29f && std::fabs(y) < 0x1p29f) {
      ASSERT_LE(std::fabs(ratio - exact), 0x1p-22L * exact) << x << ", " << y;
    }
  }
}

TEST(NarrowExponential, HasExponentsInOrder) {
  std::int32_t last = 0;
  visit_floats(std::numeric_limits<float>::infinity(), 4099, [&](float x) {
    const auto e = detail::split_exponential(x);
    if (x > 0) {
      ASSERT_GE(e.exponent, last) << x;
      last = e.exponent;
    }
    ASSERT_EQ(detail::split_exponential(-x).exponent, -e.exponent) << x;
  });
  EXPECT_EQ(last, detail::far_exponent);
  EXPECT_EQ(detail::split_exponential(INFINITY).exponent, detail::far_exponent);
}

TEST(NarrowExponential, HasTheSameBitsWithoutTheInstruction) {
  visit_floats(INFINITY, 9973, [](float x) {
    const auto a = detail::split_exponential(x);
    const auto b = detail::split_exponential_inline(x);
    ASSERT_EQ(a.exponent, b.exponent) << x;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(a.fraction), std::bit_cast<std::uint32_t>(b.fraction))
        << x;
  });
  test::bit_stream random(test::seed());
  for (int trial = 0; trial < 100000; ++trial) {
    float x[16];
    for (float& value : x) value = static_cast<float>(random.below(800000)) * 0x1p-10f;
    x[3] = random.one_in(3) ? -INFINITY : x[3];
    const std::int32_t exponent = detail::reduce_near(782.0f).exponent;
    ASSERT_EQ(
        std::bit_cast<std::uint64_t>(detail::sum_of_exponentials(x, 782.0f, exponent)),
        std::bit_cast<std::uint64_t>(detail::sum_of_exponentials_inline(x, 782.0f, exponent)));
  }
}

}  // namespace
}  // namespace tilefold
