// SPDX-License-Identifier: Apache-2.0
//
// The promised accumulator types, which are the result types, and that an accumulator has room for
// what its values add up to.
#include <tilefold/tilefold.hpp>

#include <complex>
#include <concepts>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

namespace tilefold {
namespace {

template <class T, class... Arguments>
using sum_t = decltype(reduce(std::declval<const T*>(), std::declval<const T*>(),
                              std::declval<Arguments>()...));

template <class Expected, class T, class... Arguments>
constexpr bool gives = std::same_as<sum_t<T, Arguments...>, Expected>;

TEST(Accumulator, OfSumsAndProductsIsWide) {
  static_assert(gives<float, half> && gives<float, bfloat16>);
  static_assert(gives<std::int32_t, std::int8_t> && gives<std::int32_t, std::int16_t>);
  static_assert(gives<std::uint32_t, std::uint8_t> && gives<std::uint32_t, std::uint16_t>);
  static_assert(gives<std::int64_t, bool> && gives<std::int64_t, bool, multiplies>);
  static_assert(gives<float, half, multiplies> && gives<std::int32_t, std::int8_t, multiplies>);
  static_assert(gives<float, half, std::plus<>> && gives<std::uint32_t, std::uint8_t, std::plus<>>);
}

TEST(Accumulator, OfOtherTypesIsTheTypeItself) {
  static_assert(gives<std::int32_t, std::int32_t> && gives<std::uint32_t, std::uint32_t>);
  static_assert(gives<std::int64_t, std::int64_t> && gives<std::uint64_t, std::uint64_t>);
  static_assert(gives<float, float> && gives<double, double>);
  static_assert(gives<long double, long double>);
  static_assert(gives<std::complex<float>, std::complex<float>>);
}

TEST(Accumulator, OfSelectionsKeepsTheValueType) {
  static_assert(gives<half, half, minimum> && gives<bfloat16, bfloat16, maximum_number>);
  static_assert(gives<std::int8_t, std::int8_t, maximum> && gives<bool, bool, minimum>);
  static_assert(gives<std::uint8_t, std::uint8_t, bit_xor>);
  static_assert(gives<std::int16_t, std::int16_t, std::bit_and<>>);
  static_assert(gives<bool, std::int32_t, logical_and> && gives<bool, float, std::logical_or<>>);
}

TEST(Accumulator, OfATypedFunctorIsAsIfTheValuesHadItsType) {
  static_assert(gives<double, float, std::plus<double>>);
  static_assert(gives<std::int32_t, std::int64_t, std::plus<std::int8_t>>);
}

TEST(Accumulator, WithAnInitialValueIsNarrowerThanNeither) {
  static_assert(gives<double, float, double> && gives<float, float, int>);
  static_assert(gives<double, std::int32_t, double> && gives<float, half, int>);
  static_assert(gives<double, double, float> && gives<std::int64_t, std::int32_t, std::int64_t>);
  static_assert(gives<std::int32_t, std::int8_t, std::int8_t>);
  static_assert(gives<float, half, half> && gives<double, half, double>);
  static_assert(gives<std::int8_t, std::int8_t, std::int8_t, minimum>);
  static_assert(gives<std::int64_t, bool, bool>);
}

TEST(Accumulator, OfAUsersOperatorIsWhatItReturns) {
  const auto joined = [](float a, float b) { return static_cast<double>(a) + b; };
  static_assert(gives<double, float, decltype(joined)>);
}

TEST(Accumulator, CanBeNamed) {
  const std::vector<float> x{1, 2};
  static_assert(std::same_as<decltype(reduce<double>(x)), double>);
  static_assert(std::same_as<decltype(reduce<double>(x, 1)), double>);
  static_assert(std::same_as<decltype(reduce<half>(std::vector<half>{})), half>);
  // 2^24 + 1 needs a double.
  const std::vector<float> large{16777216.0f, 1.0f};
  EXPECT_EQ(reduce<double>(large), 16777217.0);
  EXPECT_EQ(reduce(large), 16777216.0f);
}

TEST(Accumulator, HoldsWhatNarrowValuesAddUpTo) {
  EXPECT_EQ(reduce(std::vector<std::int8_t>(1000, -128)), -128000);
  EXPECT_EQ(reduce(std::vector<std::uint8_t>(1000, 255)), 255000u);
  EXPECT_EQ(reduce(std::vector<std::int16_t>(1000, -32768)), -32768000);
  EXPECT_EQ(reduce(std::vector<std::uint16_t>(1000, 65535)), 65535000u);
  EXPECT_EQ(reduce(std::vector<bool>(1000, true)), 1000);
  // 4096 ones more than a half can count.
  EXPECT_EQ(reduce(std::vector<half>(8192, half(1.0f))), 8192.0f);
  EXPECT_EQ(reduce(std::vector<bfloat16>(8192, bfloat16(1.0f))), 8192.0f);
  EXPECT_EQ(reduce(std::vector<half>(3, half(60000.0f))), 180000.0f);
}

TEST(Accumulator, WideInitialValueIsKept) {
  const std::vector<std::int32_t> x{1, 2};
  EXPECT_EQ(reduce(x, std::int64_t{1} << 40), (std::int64_t{1} << 40) + 3);
  EXPECT_EQ(reduce(std::vector<float>{0.5f}, 1), 1.5f);
  EXPECT_EQ(reduce(std::vector<int>{1}, 0.5), 1.5);
}

}  // namespace
}  // namespace tilefold
