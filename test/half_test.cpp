// SPDX-License-Identifier: Apache-2.0
//
// The 16-bit storage types against their definitions: every pattern to float, and float back with
// the one rounding that is nearest, ties to even.
#include <tilefold/half.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <gtest/gtest.h>

#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold {
namespace {

using test::float_layout;

template <class T>
T of_bits(unsigned bits) {
  return std::bit_cast<T>(static_cast<std::uint16_t>(bits));
}

template <class T>
class NarrowFloat : public ::testing::Test {
 protected:
  static constexpr int exponent_bits = float_layout<T>::exponent_bits;
  static constexpr int significand_bits = float_layout<T>::significand_bits;
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr unsigned infinity = ((1u << exponent_bits) - 1) << significand_bits;

  // The value of a finite pattern, from the definition of the format.
  static double value_of(unsigned bits) {
    const int exponent = static_cast<int>((bits & 0x7fffu) >> significand_bits);
    const double fraction = bits & ((1u << significand_bits) - 1);
    const double hidden = exponent == 0 ? 0 : std::ldexp(1.0, significand_bits);
    const double magnitude =
        std::ldexp(fraction + hidden, (exponent == 0 ? 1 : exponent) - bias - significand_bits);
    return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
  }

  // The pattern nearest to a finite x, ties to even, by trying neighbours.
  static unsigned nearest(float x) {
    const unsigned sign = std::signbit(x) ? 0x8000u : 0;
    const double magnitude = std::fabs(static_cast<double>(x));
    unsigned low = 0;
    unsigned high = infinity;  // its value is what the next binade would start with
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      (magnitude < value_of(middle) ? high : low) = middle;
    }
    const double below = magnitude - value_of(low);
    const double above = value_of(high) - magnitude;
    if (above == below) return sign | (low % 2 == 0 ? low : high);
    return sign | (above < below ? high : low);
  }
};

using types = ::testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(NarrowFloat, types);

TYPED_TEST(NarrowFloat, IsPlainStorage) {
  static_assert(sizeof(TypeParam) == 2 && std::is_trivially_copyable_v<TypeParam> &&
                std::is_trivially_default_constructible_v<TypeParam>);
  static_assert(!std::is_convertible_v<float, TypeParam> &&
                !std::is_convertible_v<TypeParam, float>);
}

TYPED_TEST(NarrowFloat, EveryPatternHasItsExactValue) {
  for (unsigned bits = 0; bits < 0x10000u; ++bits) {
    const auto x = static_cast<float>(of_bits<TypeParam>(bits));
    const unsigned magnitude = bits & 0x7fffu;
    if (magnitude > this->infinity) {
      ASSERT_TRUE(std::isnan(x)) << bits;
    } else if (magnitude == this->infinity) {
      ASSERT_EQ(x, (bits & 0x8000u) != 0 ? -INFINITY : INFINITY) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(x), this->value_of(bits)) << bits;
      ASSERT_EQ(std::signbit(x), (bits & 0x8000u) != 0) << bits;
    }
  }
}

TYPED_TEST(NarrowFloat, EveryPatternComesBack) {
  for (unsigned bits = 0; bits < 0x10000u; ++bits) {
    const auto back = TypeParam(static_cast<float>(of_bits<TypeParam>(bits))).bits;
    if ((bits & 0x7fffu) > this->infinity) {
      ASSERT_GT(back & 0x7fffu, this->infinity) << bits;
    } else {
      ASSERT_EQ(back, bits);
    }
  }
}

TYPED_TEST(NarrowFloat, RoundsToNearestEven) {
  // Each value, the midpoint to the next one, and the floats on either side of the midpoint.
  for (unsigned bits = 0; bits < this->infinity; ++bits) {
    const double middle = (this->value_of(bits) + this->value_of(bits + 1)) / 2;
    const float tie = static_cast<float>(middle);
    ASSERT_EQ(static_cast<double>(tie), middle);
    for (const float x : {tie, std::nextafterf(tie, 0.0f), std::nextafterf(tie, INFINITY)}) {
      ASSERT_EQ(TypeParam(x).bits, this->nearest(x)) << x;
      ASSERT_EQ(TypeParam(-x).bits, this->nearest(-x)) << -x;
    }
  }
}

TYPED_TEST(NarrowFloat, RoundsRandomFloats) {
  test::bit_stream random(test::seed());
  for (int i = 0; i < 200000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    if (!std::isfinite(x)) continue;
    ASSERT_EQ(TypeParam(x).bits, this->nearest(x)) << x;
  }
}

TYPED_TEST(NarrowFloat, InfinitiesAndNaNsStayWhatTheyAre) {
  EXPECT_EQ(TypeParam(INFINITY).bits, this->infinity);
  EXPECT_EQ(TypeParam(-INFINITY).bits, this->infinity | 0x8000u);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::max()).bits,
            this->nearest(std::numeric_limits<float>::max()));
  for (const std::uint32_t nan : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff812345u}) {
    const auto bits = TypeParam(std::bit_cast<float>(nan)).bits;
    EXPECT_GT(bits & 0x7fffu, this->infinity);
  }
}

}  // namespace
}  // namespace tilefold
