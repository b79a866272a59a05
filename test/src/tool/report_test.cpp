// SPDX-License-Identifier: Apache-2.0
//
// Numbers as text, and the differences that --check reports.
#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "comparison.hpp"
#include "format.hpp"

namespace tilefold::tool {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(format, values_read_back_exactly) {
  EXPECT_EQ(format_value(scalar::of(0.1f)), "0.1");
  EXPECT_EQ(format_value(scalar::of(0.1)), "0.1");
  EXPECT_EQ(format_value(scalar::of(0.1 + 0.2)), "0.30000000000000004");
  EXPECT_EQ(format_value(scalar::of(-0.0f)), "-0");
  EXPECT_EQ(format_value(scalar::of(nan)), "nan");
  EXPECT_EQ(format_value(scalar::of(-infinity)), "-inf");
  EXPECT_EQ(format_value(scalar::of(half(1.5f))), "1.5");
  EXPECT_EQ(format_value(scalar::of(bfloat16(-2.0f))), "-2");
  EXPECT_EQ(format_value(scalar::of(true)), "true");
  EXPECT_EQ(format_value(scalar::of(std::int8_t{-7})), "-7");
  EXPECT_EQ(format_value(scalar::of(std::numeric_limits<std::uint64_t>::max())),
            "18446744073709551615");
  EXPECT_EQ(format_value(scalar::of(std::complex<float>(1, -2.5f))), "(1,-2.5)");
}

TEST(format, hexadecimal_fractions) {
  EXPECT_EQ(format_hex(scalar::of(0.1)), "0x1.999999999999ap-4");
  EXPECT_EQ(format_hex(scalar::of(-1.5f)), "-0x1.8p+0");
  EXPECT_EQ(format_hex(scalar::of(std::numeric_limits<float>::denorm_min())), "0x1p-149");
  EXPECT_EQ(format_hex(scalar::of(half(0.5f))), "0x1p-1");
  EXPECT_EQ(format_hex(scalar::of(std::complex<double>(1, -0.0))), "(0x1p+0,-0x0p+0)");
  EXPECT_EQ(format_hex(scalar::of(std::int32_t{3})), "");
}

TEST(format, bits) {
  EXPECT_EQ(format_bits(scalar::of(1.0f)), "0x3f800000");
  EXPECT_EQ(format_bits(scalar::of(nan)), "0x7fc00000");
  EXPECT_EQ(format_bits(scalar::of(-2.0)), "0xc000000000000000");
  EXPECT_EQ(format_bits(scalar::of(half(1.0f))), "0x3c00");
  EXPECT_EQ(format_bits(scalar::of(true)), "0x01");
  EXPECT_EQ(format_bits(scalar::of(std::int16_t{-2})), "0xfffe");
  EXPECT_EQ(format_bits(scalar::of(std::complex<float>(1, -2))), "0x3f800000 0xc0000000");
}

TEST(format, times_and_rates) {
  EXPECT_EQ(format_seconds(0.0000123), "12.3 us");
  EXPECT_EQ(format_seconds(2), "2 s");
  EXPECT_EQ(format_seconds(4e-8), "40 ns");
  EXPECT_EQ(format_rate(4.561e12), "4561 GB/s");
  EXPECT_EQ(format_rate(1.234e9), "1.23 GB/s");
  EXPECT_EQ(format_rate(1.5e6), "0.0015 GB/s");
  EXPECT_EQ(format_bytes(1 << 30), "1.07 GB");
  EXPECT_EQ(format_bytes(3), "3 bytes");
}

comparison rounded(float result, long double reference) {
  return compare("", scalar::of(result), {reference, 0});
}

TEST(comparison, differences_in_ulps) {
  const comparison off_by_one = rounded(1 + 0x1p-23f, 1);
  EXPECT_FALSE(off_by_one.equal);
  EXPECT_EQ(off_by_one.absolute, 0x1p-23L);
  EXPECT_EQ(off_by_one.relative, 0x1p-23L);
  EXPECT_EQ(off_by_one.ulps, 1);
  EXPECT_EQ(rounded(8, 8 + 0x1p-20L).ulps, 1);
  EXPECT_EQ(rounded(0x1p-149f, 0).ulps, 1);
  EXPECT_EQ(rounded(3e-45f, 0x1p-149L).ulps, 1);
  EXPECT_EQ(compare("", scalar::of(1.0), {1 + 0x1p-53L, 0}).ulps, 0.5);
  EXPECT_TRUE(rounded(2, 2).equal);
}

TEST(comparison, non_finite_values) {
  EXPECT_TRUE(rounded(nan, std::numeric_limits<long double>::quiet_NaN()).equal);
  EXPECT_TRUE(rounded(infinity, std::numeric_limits<long double>::infinity()).equal);
  // The reference has a wider range; rounded to float it is infinite too.
  EXPECT_TRUE(rounded(infinity, 1e39L).equal);
  EXPECT_FALSE(rounded(infinity, -1e39L).equal);
  EXPECT_FALSE(rounded(infinity, 1).equal);
  EXPECT_FALSE(rounded(nan, 1).equal);
  EXPECT_FALSE(rounded(1, std::numeric_limits<long double>::quiet_NaN()).equal);
}

TEST(comparison, complex_values_differ_by_the_worse_part) {
  const std::complex<float> z(1, 8);
  EXPECT_EQ(compare("", scalar::of(z), {1 + 0x1p-23L, 8}).ulps, 1);
  EXPECT_EQ(compare("", scalar::of(z), {1, 8 + 0x1p-19L}).ulps, 2);
  EXPECT_TRUE(compare("", scalar::of(z), {1, 8}).equal);
}

TEST(comparison, exact_operators_ask_for_equal_bits) {
  EXPECT_TRUE(compare("", op_kind::sum, scalar::of(5), scalar::of(5)).equal);
  EXPECT_TRUE(compare("", op_kind::sum, scalar::of(5), scalar::of(5)).exact);
  EXPECT_FALSE(compare("", op_kind::sum, scalar::of(5), scalar::of(6)).equal);
  EXPECT_FALSE(compare("", op_kind::minimum, scalar::of(0.0f), scalar::of(-0.0f)).equal);
  EXPECT_TRUE(compare("", op_kind::minimum, scalar::of(nan), scalar::of(nan)).equal);
  const comparison sum = compare("", op_kind::sum, scalar::of(1.0f), scalar::of(1 + 0x1p-23f));
  EXPECT_FALSE(sum.exact);
  EXPECT_EQ(sum.ulps, 1);
}

template <class T>
T referenced(op_kind op, T a, T b) {
  return reference_combine(op, a, b);
}

TEST(reference, extremes_of_special_values) {
  const long double nan = std::numeric_limits<long double>::quiet_NaN();
  EXPECT_TRUE(std::signbit(referenced(op_kind::minimum, 0.0L, -0.0L)));
  EXPECT_TRUE(std::signbit(referenced(op_kind::minimum, -0.0L, 0.0L)));
  EXPECT_FALSE(std::signbit(referenced(op_kind::maximum, -0.0L, 0.0L)));
  EXPECT_FALSE(std::signbit(referenced(op_kind::maximum_number, 0.0L, -0.0L)));
  EXPECT_TRUE(std::isnan(referenced(op_kind::minimum, nan, 1.0L)));
  EXPECT_TRUE(std::isnan(referenced(op_kind::maximum, 1.0L, nan)));
  EXPECT_EQ(referenced(op_kind::minimum_number, nan, 1.0L), 1);
  EXPECT_EQ(referenced(op_kind::maximum_number, 1.0L, nan), 1);
  EXPECT_EQ(referenced(op_kind::minimum, std::int64_t{-5}, std::int64_t{3}), -5);
  EXPECT_EQ(referenced(op_kind::maximum, std::uint64_t{1}, ~std::uint64_t{0}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace tilefold::tool
