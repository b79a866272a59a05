// SPDX-License-Identifier: Apache-2.0
//
// Means, variances and higher moments against two passes in long double, with the error bounds that
// their documentation states; data that ruins the textbook formula.
#include <tilefold/reducers/moments.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/items.hpp"
#include "../support/seed.hpp"

namespace tilefold {
namespace {

namespace r = reducers;

constexpr long double u = 0x1p-53L;

struct moments {
  long double mean, second, third, fourth, size;
};

/// Two passes; the second corrects the first one's mean.
template <class T>
moments exact_moments(const std::vector<T>& x) {
  const auto n = static_cast<long double>(x.size());
  moments m{};
  for (const T value : x) m.mean += static_cast<long double>(value);
  m.mean /= n;
  long double rest = 0;
  for (const T value : x) rest += static_cast<long double>(value) - m.mean;
  m.mean += rest / n;
  for (const T value : x) {
    const long double d = static_cast<long double>(value) - m.mean;
    m.second += d * d;
    m.third += d * d * d;
    m.fourth += d * d * d * d;
    m.size += std::fabs(static_cast<long double>(value));
  }
  return m;
}

long double depth_of(std::size_t n) { return std::ceil(std::log2(static_cast<long double>(n))); }

/// uniform in [offset - scale, offset + scale)
std::vector<double> around(double offset, double scale, std::int64_t n) {
  test::bit_stream random(test::seed() + static_cast<std::uint64_t>(n));
  std::vector<double> x;
  for (std::int64_t i = 0; i < n; ++i) {
    x.push_back(offset + scale * (static_cast<double>(random.next() >> 11) * 0x1p-52 - 1.0));
  }
  return x;
}

// Relative error of the variance: (depth + 4) u (1 + k + the same k for higher-order terms).
template <class T>
void expect_bounds(const std::vector<T>& x, const std::string& what) {
  SCOPED_TRACE(what + ", n = " + std::to_string(x.size()));
  const moments m = exact_moments(x);
  const auto n = static_cast<long double>(x.size());
  const long double depth = depth_of(x.size());
  const double mean = tilefold::reduce(x, r::mean{});
  EXPECT_LE(std::fabs(mean - m.mean), (depth + 2) * u * m.size / n);
  if (x.size() < 2) return;
  const long double variance = m.second / n;
  const double got = tilefold::reduce(x, r::variance(divisor::population));
  if (m.second == 0) {  // equal items, as two random bytes may be
    EXPECT_EQ(got, 0);
    EXPECT_EQ(tilefold::reduce(x, r::variance{}), 0);
    EXPECT_EQ(tilefold::reduce(x, r::standard_deviation{}), 0);
    return;
  }
  const long double condition = std::sqrt(1 + m.mean * m.mean / variance);
  const long double relative =
      (depth + 4) * u * (2 * condition + (depth + 4) * u * condition * condition);
  EXPECT_LE(std::fabs(got - variance), relative * variance);
  EXPECT_NEAR(tilefold::reduce(x, r::variance{}), static_cast<double>(m.second / (n - 1)),
              static_cast<double>((relative + 2 * u) * m.second / (n - 1)));
  EXPECT_NEAR(tilefold::reduce(x, r::standard_deviation{}),
              static_cast<double>(std::sqrt(m.second / (n - 1))),
              static_cast<double>((relative + 3 * u) * std::sqrt(m.second / (n - 1))));
  // Deviations to the 3rd and 4th power of the mean's error; skewness relative to what it would be
  // without cancellation.
  const long double shape = 30 * (depth + 4) * u * condition;
  const long double absolute_third = std::pow(m.fourth, 0.75L) * std::pow(n, 0.25L);
  EXPECT_NEAR(
      tilefold::reduce(x, r::skewness{}),
      static_cast<double>(std::sqrt(n) * m.third / std::pow(m.second, 1.5L)),
      static_cast<double>(shape * std::sqrt(n) * absolute_third / std::pow(m.second, 1.5L)));
  EXPECT_NEAR(tilefold::reduce(x, r::kurtosis{}),
              static_cast<double>(n * m.fourth / (m.second * m.second) - 3),
              static_cast<double>(shape * (n * m.fourth / (m.second * m.second) + 3)));
}

TEST(Moments, KeepTheirBounds) {
  for (const std::int64_t n : {1, 2, 3, 5, 8, 100, 1000, 1023, 4096, 100003}) {
    expect_bounds(around(0, 1, n), "centred");
    expect_bounds(around(1e9, 1, n), "huge offset, tiny variance");
    expect_bounds(around(-1e15, 100, n), "offset beyond");
    expect_bounds(test::make_items<float>(test::pattern::mixed, n, test::seed()), "mixed floats");
    expect_bounds(test::make_items<std::int32_t>(test::pattern::mixed, n, test::seed()), "int32");
    expect_bounds(test::make_items<std::uint8_t>(test::pattern::mixed, n, test::seed()), "uint8");
  }
}

TEST(Moments, OfEqualElementsHaveNoSpread) {
  for (const std::size_t n : {1u, 2u, 64u, 4096u}) {
    const std::vector<double> x(n, 0.1);
    EXPECT_EQ(tilefold::reduce(x, r::variance(divisor::population)), 0.0) << n;
    EXPECT_EQ(tilefold::reduce(x, r::mean{}), 0.1) << n;
  }
  // Where the halves differ in size their means do, by roundings.
  const std::vector<double> x(1000, 0.1);
  EXPECT_LE(tilefold::reduce(x, r::variance{}), 1e-30);
  EXPECT_TRUE(std::isnan(tilefold::reduce(std::vector<float>(8, 3.0f), r::skewness{})));
  EXPECT_TRUE(std::isnan(tilefold::reduce(std::vector<float>(8, 3.0f), r::kurtosis{})));
}

TEST(Moments, OfOneElement) {
  const std::vector<float> one{3};
  EXPECT_EQ(tilefold::reduce(one, r::mean{}), 3.0);
  EXPECT_EQ(tilefold::reduce(one, r::variance(divisor::population)), 0.0);
  EXPECT_TRUE(std::isnan(tilefold::reduce(one, r::variance{})));
}

TEST(Moments, OfFloatsDoNotOverflow) {
  const std::vector<float> x{3e38f, -3e38f, 3e38f, -3e38f};
  const double big = 3e38f;
  EXPECT_EQ(tilefold::reduce(x, r::variance(divisor::population)), big * big);
  EXPECT_EQ(tilefold::reduce(x, r::mean{}), 0.0);
}

TEST(Moments, PassNaNAndInfinityOn) {
  for (const std::size_t place : {0u, 500u, 999u}) {
    std::vector<float> x(1000, 1.0f);
    x[place] = NAN;
    const auto of = r::fuse(r::mean{}, r::variance{}, r::skewness{}, r::kurtosis{});
    const auto [mean, variance, skewness, kurtosis] = tilefold::reduce(x, of);
    EXPECT_TRUE(std::isnan(mean) && std::isnan(variance));
    EXPECT_TRUE(std::isnan(skewness) && std::isnan(kurtosis));
    x[place] = INFINITY;
    EXPECT_EQ(tilefold::reduce(x, r::mean{}), INFINITY);
    EXPECT_TRUE(std::isnan(tilefold::reduce(x, r::variance{})));
    x[(place + 7) % 1000] = -INFINITY;
    EXPECT_TRUE(std::isnan(tilefold::reduce(x, r::mean{})));
  }
  EXPECT_TRUE(
      std::isnan(tilefold::reduce(std::vector<float>{INFINITY}, r::variance(divisor::population))));
}

// From Python: statistics.fmean, pvariance, variance of fractions; each correctly rounded.
TEST(Moments, OfIntegersAreExactWhereTheyCanBe) {
  const std::vector<int> x{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_EQ(tilefold::reduce(x, r::mean{}), 5.0);
  EXPECT_EQ(tilefold::reduce(x, r::variance(divisor::population)), 4.0);
  EXPECT_EQ(tilefold::reduce(x, r::standard_deviation(divisor::population)), 2.0);
  EXPECT_EQ(tilefold::reduce(x, r::variance{}), 0x1.2492492492492p+2);
  EXPECT_EQ(tilefold::reduce(x, r::skewness{}), 0.65625);
  EXPECT_EQ(tilefold::reduce(x, r::kurtosis{}), -0.21875);
  const auto [mean, variance] = tilefold::reduce(x, r::mean_variance(divisor::population));
  EXPECT_EQ(mean, 5.0);
  EXPECT_EQ(variance, 4.0);
}

TEST(TwoRanges, KeepTheBoundsOfTheirMoments) {
  for (const std::int64_t n : {2, 3, 7, 64, 1000, 50001}) {
    const auto x = around(1e6, 1, n);
    auto y = around(-3e5, 2, n + 1);
    y.pop_back();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += 0.5 * x[i];
    const moments mx = exact_moments(x);
    const moments my = exact_moments(y);
    long double xy = 0;
    long double weighted = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      xy += (x[i] - mx.mean) * (y[i] - my.mean);
      weighted += static_cast<long double>(x[i]) * y[i];
    }
    const auto count = static_cast<long double>(n);
    const long double scale = std::sqrt(mx.second * my.second);
    const long double condition = std::max(std::fabs(mx.mean) / std::sqrt(mx.second / count),
                                           std::fabs(my.mean) / std::sqrt(my.second / count));
    const auto bound = static_cast<double>(4 * (depth_of(x.size()) + 4) * u * condition);
    const auto pair_of = [&](auto reducer) {
      return tilefold::transform_reduce(x.begin(), x.end(), y.begin(), reducer);
    };
    EXPECT_NEAR(pair_of(r::covariance{}), static_cast<double>(xy / (count - 1)),
                bound * static_cast<double>(scale / (count - 1)));
    EXPECT_NEAR(pair_of(r::covariance(divisor::population)), static_cast<double>(xy / count),
                bound * static_cast<double>(scale / count));
    EXPECT_NEAR(pair_of(r::correlation{}), static_cast<double>(xy / scale), bound);
    const auto sum = static_cast<long double>(my.mean) * count;
    EXPECT_NEAR(pair_of(r::weighted_mean{}), static_cast<double>(weighted / sum),
                static_cast<double>(4 * (depth_of(x.size()) + 4) * u * std::fabs(weighted / sum)));
  }
}

TEST(TwoRanges, OfThemselvesCorrelateFully) {
  const auto x = around(5, 1, 1000);
  auto minus = x;
  for (double& value : minus) value = -value;
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), x.begin(), r::correlation{}), 1.0);
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), minus.begin(), r::correlation{}), -1.0);
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), x.begin(), r::covariance{}),
            tilefold::reduce(x, r::variance{}));
  const std::vector<double> flat(512, 2.0);
  EXPECT_TRUE(std::isnan(
      tilefold::transform_reduce(flat.begin(), flat.end(), x.begin(), r::correlation{})));
}

}  // namespace
}  // namespace tilefold
