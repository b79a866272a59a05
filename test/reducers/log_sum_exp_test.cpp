// SPDX-License-Identifier: Apache-2.0
//
// logsumexp, softmax's pair and the means that go through logarithms and reciprocals, against long
// double.
#include <tilefold/reducers/log_sum_exp.hpp>

#include <cmath>
#include <cstdint>
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

TEST(LogSumExp, OfSpecialValues) {
  const auto of = [](std::vector<double> x) { return tilefold::reduce(x, r::logsumexp{}); };
  EXPECT_EQ(of({1e308, 1e308}), 1e308);
  EXPECT_EQ(of({-1e308, 5}), 5.0);
  EXPECT_EQ(of({-INFINITY, -INFINITY}), -INFINITY);
  EXPECT_EQ(of({-INFINITY, 3}), 3.0);
  EXPECT_EQ(of({INFINITY, 3, INFINITY}), INFINITY);
  EXPECT_EQ(of({-INFINITY, INFINITY}), INFINITY);
  for (const auto& x : {std::vector<double>{NAN, 1, 2}, {1, NAN, 2}, {1, 2, NAN}, {NAN}}) {
    EXPECT_TRUE(std::isnan(of(x)));
    const auto [max, sum] = tilefold::reduce(x, r::softmax_pair{});
    EXPECT_TRUE(std::isnan(max) && std::isnan(sum));
  }
  EXPECT_EQ(of({7}), 7.0);
  const auto [max, sum] = tilefold::reduce(std::vector<float>{-0.0f, 0.0f}, r::softmax_pair{});
  EXPECT_FALSE(std::signbit(max));
  EXPECT_EQ(sum, 2.0);
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
