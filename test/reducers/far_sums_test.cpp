// SPDX-License-Identifier: Apache-2.0
//
// Means and variances of doubles whose sums leave the range of a double: the bits of the tree over
// items that are 2^64 times smaller, which stay in it; and whatever cuts the items, the same bits.
#include "far_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/piece.hpp>
#include <tilefold/tilefold.hpp>

#include "../support/oracle.hpp"
#include "../support/seed.hpp"
#include "../support/views.hpp"
#include "cases.hpp"

namespace tilefold::test {
namespace {

namespace r = reducers;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();

double mean_by_definition(std::vector<double> x) {
  const auto n = static_cast<double>(x.size());
  for (double& value : x) value *= 0x1p-64;
  const double sum = neighbour_tree([](double a, double b) { return a + b; }, std::move(x));
  const double mean = sum / n * 0x1p64;
  return std::isinf(mean) ? std::copysign(largest, mean) : mean;
}

/// Two passes with exponents of 15 bits.
double exact_variance(const std::vector<double>& x) {
  const auto n = static_cast<long double>(x.size());
  long double mean = 0;
  for (const double value : x) mean += static_cast<long double>(value) / n;
  long double squares = 0;
  for (const double value : x) {
    const long double d = static_cast<long double>(value) - mean;
    squares += d * d / n;
  }
  return static_cast<double>(squares);
}

const auto of_all = r::fuse(r::mean{}, r::variance{divisor::population}, r::max{});

std::string fused_bits(const std::vector<double>& x) {
  return bits_of(tilefold::reduce(x, of_all));
}

TEST(FarSums, EqualNumbersHaveThatMeanAndNoVariance) {
  for (const double value : {1e308, -1e308, largest, 0x1p1023, -0x1.8p1023}) {
    for (const std::int64_t n : {1, 2, 3, 4, 6, 8, 10, 100, 256, 1000, 2048, 4096, 5000, 100000}) {
      // Where sums of any number of them are exact, any number will do.
      const bool exact = value == 0x1p1023 || value == -0x1.8p1023;
      if (!exact && n > 4 && (n & (n - 1)) != 0) continue;
      const std::vector<double> x(static_cast<std::size_t>(n), value);
      SCOPED_TRACE(std::to_string(value) + " * " + std::to_string(n));
      EXPECT_EQ(tilefold::mean(x), value);
      EXPECT_EQ(tilefold::variance(x, divisor::population), 0);
      EXPECT_EQ(tilefold::reduce(x, r::standard_deviation{divisor::population}), 0);
      const auto both = tilefold::reduce(x, r::mean_variance{divisor::population});
      EXPECT_EQ(both.mean, value);
      EXPECT_EQ(both.variance, 0);
      const auto [mean, variance, max] = tilefold::reduce(x, of_all);
      EXPECT_EQ(mean, value);
      EXPECT_EQ(variance, 0);
      EXPECT_EQ(max, value);
    }
  }
}

TEST(FarSums, ComeBackIntoRange) {
  EXPECT_EQ(tilefold::mean(std::vector<double>{1e308, 1e308, -1e308, -1e308, 3.0}), 0.6);
  EXPECT_EQ(tilefold::mean(std::vector<double>{1e308, 1e308, -1e308, -1e308, 0x1p-1074, 0.0}), 0);
  EXPECT_EQ(tilefold::mean(std::vector<double>{largest, largest, -largest, -largest, 0x5p-1074}),
            0x1p-1074);
}

TEST(FarSums, InfinitiesAndNaNsStayWhatTheyAre) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t n : {5, 300, 5000}) {
    std::vector<double> x(static_cast<std::size_t>(n), 1.5e308);
    const auto expect = [&](double mean) {
      EXPECT_EQ(bits_of(tilefold::mean(x)), bits_of(mean));
      EXPECT_TRUE(std::isnan(tilefold::variance(x)));
      const auto both = tilefold::reduce(x, r::mean_variance{});
      EXPECT_EQ(bits_of(both.mean), bits_of(mean));
      EXPECT_TRUE(std::isnan(both.variance));
    };
    x[3] = infinity;
    expect(infinity);
    x[3] = -infinity;
    expect(-infinity);
    x[0] = infinity;
    expect(nan);
    x[0] = nan;
    x[3] = 1.5e308;
    expect(nan);
  }
}

TEST(FarSums, VariancesBeyondTheRangeAreInfinite) {
  bit_stream random(seed());
  for (int i = 0; i < 300; ++i) {
    const auto x = far_items(random, 2 + random.below(i < 290 ? 300 : 20000), 5);
    const double expected = exact_variance(x);
    if (expected != infinity) continue;
    EXPECT_EQ(tilefold::variance(x, divisor::population), infinity) << "seed " << seed();
    EXPECT_EQ(tilefold::reduce(x, r::standard_deviation{}), infinity) << "seed " << seed();
  }
}

// n numbers of +-1e153 have the variance 1e306, and n times as much is the sum of their squares.
TEST(FarSums, VariancesWhoseSquaresAddUpBeyondTheRangeAreInfinite) {
  for (const int n : {2, 100, 170, 190, 200, 5000, 100000}) {
    std::vector<double> x(static_cast<std::size_t>(n), 1e153);
    for (std::size_t i = 0; i < x.size(); i += 2) x[i] = -1e153;
    SCOPED_TRACE(n);
    const double found = tilefold::variance(x, divisor::population);
    EXPECT_EQ(found, tilefold::variance(host_executor(3), x, divisor::population));
    if (n < 180) {
      EXPECT_NEAR(found / 1e306, 1, 1e-14);
    } else {
      EXPECT_EQ(found, infinity);
    }
  }
}

TEST(FarSums, RandomMeansAreThoseOfTheDefinition) {
  SCOPED_TRACE(seed());
  bit_stream random(seed());
  for (int i = 0; i < 600; ++i) {
    const auto x = far_items(random, 1 + random.below(i % 20 == 0 ? 30000 : 400), i % 11);
    const double expected = mean_by_definition(x);
    ASSERT_TRUE(std::isfinite(expected));
    ASSERT_EQ(tilefold::mean(x), expected) << x.size();
    ASSERT_EQ(tilefold::mean(host_executor(3), x), expected) << x.size();
    ASSERT_EQ(tilefold::reduce(x, r::mean_variance{}).mean, expected) << x.size();
    ASSERT_EQ(get<0>(tilefold::reduce(x, of_all)), expected) << x.size();
    const auto twice = [](double value) { return 2 * value; };
    std::vector<double> halves = x;
    for (double& value : halves) value /= 2;
    ASSERT_EQ(tilefold::transform_reduce(halves.begin(), halves.end(), r::mean{}, twice), expected);
    ASSERT_EQ(fused_bits(x), bits_of(tilefold::reduce(host_executor(3), x, of_all)));
  }
}

// Rows of every length, columns, segments and keys.
TEST(FarSums, AreSegmentsOwn) {
  SCOPED_TRACE(seed());
  bit_stream random(seed() + 1);
  const auto empty = if_empty(of_all, decltype(tilefold::reduce(std::vector<double>(), of_all)){});
  for (int i = 0; i < 120; ++i) {
    const std::int64_t rows = 1 + random.below(60);
    const std::int64_t width = 1 + random.below(i % 10 == 0 ? 700 : 70);
    const auto x = far_items(random, rows * width, i % 11);
    std::vector<std::vector<double>> row(static_cast<std::size_t>(rows));
    std::vector<std::vector<double>> column(static_cast<std::size_t>(width));
    std::vector<std::int64_t> keys;
    for (std::int64_t k = 0; k < rows * width; ++k) {
      row[static_cast<std::size_t>(k / width)].push_back(x[static_cast<std::size_t>(k)]);
      column[static_cast<std::size_t>(k % width)].push_back(x[static_cast<std::size_t>(k)]);
      keys.push_back(k / width);
    }
    using result = decltype(tilefold::reduce(x, of_all));
    const auto expect = [](const auto& parts, const std::vector<result>& found,
                           const std::vector<double>& means, const std::vector<double>& bare) {
      for (std::size_t k = 0; k < parts.size(); ++k) {
        const double mean = mean_by_definition(parts[k]);
        ASSERT_EQ(means[k], mean);
        ASSERT_EQ(get<0>(found[k]), mean);
        ASSERT_EQ(bits_of(found[k]), fused_bits(parts[k]));
        ASSERT_EQ(bits_of(bare[k]),
                  bits_of(tilefold::reduce(parts[k], r::variance{divisor::population})));
      }
    };
    const auto size = static_cast<std::size_t>(std::max(rows, width));
    std::vector<result> found(size);
    std::vector<double> means(size), bare(size);
    tilefold::segmented_reduce(x.data(), rows, width, means.data(), if_empty(r::mean{}, 0.0));
    tilefold::segmented_reduce(x.data(), rows, width, bare.data(),
                               if_empty(r::variance{divisor::population}, 0.0));
    tilefold::segmented_reduce(x.data(), rows, width, found.data(), empty);
    expect(row, found, means, bare);

    std::vector<std::int64_t> found_keys(size);
    tilefold::reduce_by_key(keys.begin(), keys.end(), x.begin(), found_keys.begin(), means.begin(),
                            r::mean{});
    tilefold::reduce_by_key(keys.begin(), keys.end(), x.begin(), found_keys.begin(), found.begin(),
                            of_all);
    expect(row, found, means, bare);

    const test_view matrix{x.data(), right_layout({rows, width})};
    const auto fold_columns = [&](auto* out, const auto& reducer) {
      tilefold::axis_reduce(host_executor(1 + static_cast<int>(random.below(3))), matrix,
                            test_view{out, right_layout({width})}, 0, reducer);
    };
    fold_columns(means.data(), r::mean{});
    fold_columns(bare.data(), r::variance{divisor::population});
    fold_columns(found.data(), of_all);
    expect(column, found, means, bare);
  }
}

// Rows are folded by blocks, and then these.
TEST(FarSums, OfTallColumnsAreTheirOwn) {
  SCOPED_TRACE(seed());
  bit_stream random(seed() + 3);
  for (const std::int64_t width : {2, 5, 16}) {
    const std::int64_t rows = 100000 + random.below(100000);
    const auto x = far_items(random, rows * width, 6);
    std::vector<double> means(static_cast<std::size_t>(width));
    const test_view matrix{x.data(), right_layout({rows, width})};
    tilefold::axis_reduce(host_executor(3), matrix, test_view{means.data(), right_layout({width})},
                          0, r::mean{});
    std::vector<reducers::mean_and_variance> found(static_cast<std::size_t>(width));
    tilefold::axis_reduce(host_executor(3), matrix, test_view{found.data(), right_layout({width})},
                          0, r::mean_variance{});
    for (std::int64_t c = 0; c < width; ++c) {
      std::vector<double> column;
      for (std::int64_t k = c; k < rows * width; k += width) {
        column.push_back(x[static_cast<std::size_t>(k)]);
      }
      const auto at = static_cast<std::size_t>(c);
      const double expected = mean_by_definition(column);
      EXPECT_EQ(means[at], expected);
      EXPECT_EQ(found[at].mean, expected);
    }
  }
}

TEST(FarSums, CutAnywhereGiveTheBitsOfOneCall) {
  SCOPED_TRACE(seed());
  bit_stream random(seed() + 2);
  for (int i = 0; i < 300; ++i) {
    const std::int64_t n = 1 + random.below(i % 20 == 0 ? 20000 : 300);
    const auto x = far_items(random, n, 3 + i % 8);
    std::vector<std::int64_t> cuts{0, n};
    for (std::int64_t k = random.below(9); k > 0; --k) cuts.push_back(random.below(n + 1));
    std::sort(cuts.begin(), cuts.end());
    const auto check = [&](const auto& reducer) {
      auto whole = tilefold::reduce_piece(host_executor(1), x.begin(), x.begin(), 0, reducer);
      for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
        const auto part = tilefold::reduce_piece(host_executor(1), x.begin() + cuts[k],
                                                 x.begin() + cuts[k + 1], cuts[k], reducer);
        whole.merge(whole.from_bytes(part.to_bytes()));
      }
      ASSERT_EQ(bits_of(whole.value()), bits_of(tilefold::reduce(x, reducer))) << n;
    };
    check(r::mean{});
    check(r::mean_variance{});
    check(of_all);
  }
}

TEST(FarSums, OfABlockClaimItsLength) {
  using state = detail::wide<detail::mean_state>;
  using claims = detail::block_claims<state>;
  const r::mean mean;
  const state far = mean.combine(mean.lift(1e308), mean.lift(1e308));
  EXPECT_EQ(mean.project(far), 1e308);
  EXPECT_TRUE(claims::hold(far, 4, 6));
  EXPECT_FALSE(claims::hold(far, 4, 7));
  EXPECT_TRUE(claims::hold(state{{2.0, 5.0}}, 4, 6));
  // A sum that is in range, or none, is not in units.
  EXPECT_FALSE(claims::hold(state{{-2.0, 5.0}}, 4, 6));
  EXPECT_FALSE(claims::hold(state{{-2.0, infinity}}, 4, 6));
  EXPECT_FALSE(claims::hold(state{{std::nan(""), 5.0}}, 4, 6));
  // Sums of floats stay in range.
  EXPECT_FALSE(detail::block_claims<detail::mean_state>::hold(detail::mean_state(far), 4, 6));
}

}  // namespace
}  // namespace tilefold::test
