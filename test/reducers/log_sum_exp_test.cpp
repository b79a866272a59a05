// SPDX-License-Identifier: Apache-2.0
//
// logsumexp, softmax's pair and the means that go through logarithms and reciprocals, against long
// double.
#include <tilefold/reducers/log_sum_exp.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/items.hpp"
#include "../support/seed.hpp"

namespace tilefold {
namespace {

namespace r = reducers;

constexpr long double u = 0x1p-53L;

std::vector<double> spread_over(double low, double high, std::int64_t n) {
  test::bit_stream random(test::seed() + static_cast<std::uint64_t>(n));
  std::vector<double> x;
  for (std::int64_t i = 0; i < n; ++i) {
    x.push_back(low + (high - low) * static_cast<double>(random.next() >> 11) * 0x1p-53);
  }
  return x;
}

TEST(LogSumExp, KeepsItsBound) {
  for (const std::int64_t n : {1, 2, 3, 17, 1000, 50001}) {
    for (const double scale : {1e-3, 1.0, 30.0, 5000.0}) {
      for (const double offset : {0.0, -1e4, 1e4}) {
        const auto x = spread_over(offset - scale, offset + scale, n);
        long double max = -INFINITY;
        for (const double value : x) max = std::max(max, static_cast<long double>(value));
        long double sum = 0;
        for (const double value : x) sum += std::exp(value - max);
        const long double expected = max + std::log(sum);
        const long double depth = std::ceil(std::log2(static_cast<long double>(n)));
        // A difference of two elements is rounded, too, and so much the exponential is off.
        const long double bound = (4 * depth + 4 + depth * 2 * std::min(scale, 745.0)) * u;
        EXPECT_LE(std::fabs(tilefold::reduce(x, r::logsumexp{}) - expected),
                  bound + u * std::fabs(expected))
            << n << ", " << scale << ", " << offset;
        const auto [largest, total] = tilefold::reduce(x, r::softmax_pair{});
        EXPECT_EQ(largest, static_cast<double>(max));
        EXPECT_LE(std::fabs(total - sum), bound * sum);
      }
    }
  }
}

// Narrow floats: the exponentials' own error, and that of a float's ln 2 (narrow_exponential.hpp).
template <class T>
void expect_narrow_bound(double low, double high, std::int64_t n) {
  std::vector<T> x;
  for (const double value : spread_over(low, high, n)) x.push_back(T(static_cast<float>(value)));
  long double max = -INFINITY;
  for (const T value : x) max = std::max(max, static_cast<long double>(float(value)));
  long double sum = 0;
  for (const T value : x) sum += std::exp(static_cast<long double>(float(value)) - max);
  const long double expected = max + std::log(sum);
  const long double depth = std::ceil(std::log2(static_cast<long double>(n)));
  const long double bound = 0x1p-24L + 0x1p-29L * (depth + 1) + 4 * (depth + 1) * u;
  EXPECT_LE(std::fabs(tilefold::reduce(x, r::logsumexp{}) - expected),
            bound + u * std::fabs(expected))
      << n << ", " << low << ", " << high;
  const auto [largest, total] = tilefold::reduce(x, r::softmax_pair{});
  EXPECT_EQ(largest, static_cast<double>(max));
  EXPECT_LE(std::fabs(total - sum), bound * sum);
}

TEST(LogSumExp, OfNarrowFloatsKeepsItsBound) {
  for (const std::int64_t n : {1, 2, 3, 17, 1000, 50001}) {
    for (const double scale : {1e-3, 1.0, 30.0, 5000.0}) {
      for (const double offset : {0.0, -650.0, 650.0, 1e4, -1e6, 1e7}) {
        expect_narrow_bound<float>(offset - scale, offset + scale, n);
        expect_narrow_bound<bfloat16>(offset - scale, offset + scale, n);
      }
      expect_narrow_bound<half>(-scale, scale, n);
    }
  }
}

TEST(LogSumExp, OfOneNarrowFloatIsThatFloat) {
  test::bit_stream random(test::seed());
  for (int trial = 0; trial < 100000; ++trial) {
    const auto x = test::float_item<float>(test::pattern::any_bits, random, 0, 1);
    const double got = tilefold::reduce(std::vector<float>{x}, r::logsumexp{});
    ASSERT_TRUE(x != x || got == static_cast<double>(x)) << x;
    ASSERT_EQ(got == got, x == x) << x;
  }
  EXPECT_EQ(tilefold::reduce(std::vector<float>(1 << 20, 0x1p22f), r::softmax_pair{}).sum, 0x1p20);
}

template <class T>
class LogSumExpOf : public ::testing::Test {};
using floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LogSumExpOf, floats);

TYPED_TEST(LogSumExpOf, SpecialValues) {
  using T = TypeParam;
  const auto of = [](std::vector<T> x) { return tilefold::reduce(x, r::logsumexp{}); };
  const T huge = std::numeric_limits<T>::max();
  EXPECT_EQ(of({huge, huge}), static_cast<double>(huge));
  EXPECT_EQ(of({huge, huge / 2, -huge}), static_cast<double>(huge));
  EXPECT_EQ(of({-huge, 5}), 5.0);
  EXPECT_EQ(of({-INFINITY, -huge}), static_cast<double>(-huge));
  EXPECT_EQ(of({-INFINITY, -INFINITY}), -INFINITY);
  EXPECT_EQ(of(std::vector<T>(100, -INFINITY)), -INFINITY);
  EXPECT_EQ(of({-INFINITY, 3}), 3.0);
  EXPECT_EQ(of({INFINITY, 3, INFINITY}), INFINITY);
  EXPECT_EQ(of({-INFINITY, INFINITY}), INFINITY);
  EXPECT_EQ(of({}), -INFINITY);
  // The logsumexp of -0 is +0 (docs/reducers.md).
  EXPECT_EQ(std::signbit(of({-T{0}})), false);
  EXPECT_EQ(std::signbit(of({-T{0}, -INFINITY})), false);
  EXPECT_EQ(of({-T{0}}), 0);
  for (const auto& x :
       {std::vector<T>{NAN, 1, 2}, {1, NAN, 2}, {1, 2, NAN}, {NAN}, {-INFINITY, NAN}}) {
    EXPECT_TRUE(std::isnan(of(x)));
    const auto [max, sum] = tilefold::reduce(x, r::softmax_pair{});
    EXPECT_TRUE(std::isnan(max) && std::isnan(sum));
  }
  for (std::size_t place = 0; place < 40; ++place) {
    std::vector<T> x(40, T{2});
    x[place] = NAN;
    EXPECT_TRUE(std::isnan(of(x))) << place;
  }
  EXPECT_EQ(tilefold::reduce(std::vector<T>{huge / 2, huge, -huge}, r::softmax_pair{}).sum, 1.0);
  EXPECT_EQ(tilefold::reduce(std::vector<T>{-huge, -huge / 2}, r::softmax_pair{}).sum, 1.0);
  const auto [max, sum] = tilefold::reduce(std::vector<T>{-T{0}, T{0}}, r::softmax_pair{});
  EXPECT_FALSE(std::signbit(max));
  EXPECT_EQ(sum, 2.0);
  const auto zeros = tilefold::reduce(std::vector<T>(64, -T{0}), r::softmax_pair{});
  EXPECT_FALSE(std::signbit(zeros.max));
  EXPECT_EQ(zeros.sum, 64.0);
}

/// Floats of many kinds: near to each other and across all borders of the packet's shorter way.
float adversary(test::bit_stream& random, std::int64_t kind) {
  const auto uniform = [&](float low, float high) {
    return low + (high - low) * static_cast<float>(random.next() >> 40) * 0x1p-24f;
  };
  switch (kind) {
    case 0:
      return uniform(-10, 10);
    case 1:
      return uniform(-750, 750);
    case 2:
      return uniform(-710, -480);
    case 3:
      return random.one_in(3) ? uniform(-10, 10) : -INFINITY;
    case 4:
      return test::float_item<float>(test::pattern::any_bits, random, 0, 1);
    case 5:  // powers of two, about as far apart as a double is long
      return 0.6931472f * static_cast<float>(-53 * random.below(20) + 27 * random.below(2));
    case 6:
      return uniform(-2e6f, 2e6f);
    case 7:
      return 0x1p29f * uniform(0.9f, 1.1f);
    case 8:
      return random.one_in(20) ? NAN : uniform(0, 10);
    case 9:
      return random.one_in(20) ? INFINITY : uniform(0, 10);
    default:
      return random.one_in(2) ? 0.0f : -0.0f;
  }
}

// To the accumulator's bits.
template <int N>
void expect_lifts_of_packets() {
  const r::logsumexp reducer;
  test::bit_stream random(test::seed());
  for (int trial = 0; trial < 100000; ++trial) {
    const std::int64_t kind = random.below(11);
    const std::int64_t other = random.below(11);
    float x[N];
    for (float& value : x) value = adversary(random, random.one_in(4) ? other : kind);
    const auto got = detail::lift_packet(reducer, x);
    const auto expected = detail::lift_each<0, N>(reducer, x);
    if (expected.sum != expected.sum) {
      ASSERT_NE(got.sum, got.sum);
    } else {
      ASSERT_EQ(std::memcmp(&got, &expected, sizeof got), 0)
          << N << ": " << got.max << ", " << got.exponent << ", " << got.sum << "; " << expected.max
          << ", " << expected.exponent << ", " << expected.sum;
    }
  }
}

TEST(LogSumExp, LiftsPacketsAsElements) {
  expect_lifts_of_packets<2>();
  expect_lifts_of_packets<8>();
  expect_lifts_of_packets<16>();
}

TEST(LogSumExp, OfDoublesBeyondFloats) {
  const auto of = [](std::vector<double> x) { return tilefold::reduce(x, r::logsumexp{}); };
  EXPECT_EQ(of({1e308, 1e308}), 1e308);
  EXPECT_EQ(of({-1e308, 5}), 5.0);
  EXPECT_EQ(of({7}), 7.0);
}

TEST(Means, KeepTheirBounds) {
  for (const std::int64_t n : {1, 2, 3, 17, 1000, 50001}) {
    const auto x = spread_over(1e-3, 1e3, n);
    long double logs = 0;
    long double log_sizes = 0;
    long double reciprocals = 0;
    for (const double value : x) {
      const long double log = std::log(static_cast<long double>(value));
      logs += log;
      log_sizes += std::fabs(log);
      reciprocals += 1 / static_cast<long double>(value);
    }
    const auto count = static_cast<long double>(n);
    const long double depth = std::ceil(std::log2(count)) + 3;
    const long double geometric = std::exp(logs / count);
    EXPECT_LE(std::fabs(tilefold::reduce(x, r::geometric_mean{}) - geometric),
              (depth * log_sizes / count + 2) * u * geometric);
    const long double harmonic = count / reciprocals;
    EXPECT_LE(std::fabs(tilefold::reduce(x, r::harmonic_mean{}) - harmonic), depth * u * harmonic);
  }
}

TEST(Means, OfSpecialValues) {
  EXPECT_EQ(tilefold::reduce(std::vector<float>{0, 5}, r::geometric_mean{}), 0.0);
  EXPECT_TRUE(std::isnan(tilefold::reduce(std::vector<float>{-1, 5}, r::geometric_mean{})));
  EXPECT_EQ(tilefold::reduce(std::vector<float>{0, 5}, r::harmonic_mean{}), 0.0);
  EXPECT_EQ(tilefold::reduce(std::vector<int>{1, 4, 4}, r::harmonic_mean{}), 2.0);
  EXPECT_EQ(tilefold::reduce(std::vector<int>(8, 1), r::geometric_mean{}), 1.0);
  EXPECT_NEAR(tilefold::reduce(std::vector<double>(100, 1e300), r::geometric_mean{}), 1e300, 1e288);
}

}  // namespace
}  // namespace tilefold
