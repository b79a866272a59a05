// SPDX-License-Identifier: Apache-2.0
//
// Norms and products against long double sums, with stated bounds; squares that overflow or vanish.
#include <tilefold/reducers/norms.hpp>

#include <cfloat>
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

constexpr long double u = 0x1p-53L;

template <class T>
void expect_norms(const std::vector<T>& x) {
  long double squares = 0;
  long double sizes = 0;
  double greatest = 0;
  for (const T value : x) {
    const auto wide = static_cast<long double>(value);
    squares += wide * wide;
    sizes += std::fabs(wide);
    greatest = std::max(greatest, std::fabs(static_cast<double>(value)));
  }
  const auto n = static_cast<long double>(x.size());
  const long double depth = std::ceil(std::log2(n));
  // The sum's own error in long double is below a twentieth of u.
  const long double bound = (depth / 2 + 2 + n * 0x1p-12L * 0.05L) * u;
  EXPECT_LE(std::fabs(tilefold::reduce(x, r::l1{}) - sizes), (depth + 1) * u * sizes);
  EXPECT_LE(std::fabs(tilefold::reduce(x, r::l2{}) - std::sqrt(squares)),
            bound * std::sqrt(squares));
  EXPECT_LE(std::fabs(tilefold::reduce(x, r::rms{}) - std::sqrt(squares / n)),
            (bound + u) * std::sqrt(squares / n));
  EXPECT_EQ(static_cast<double>(tilefold::reduce(x, r::linf{})), greatest);
}

TEST(Norms, KeepTheirBounds) {
  for (const std::int64_t n : {1, 2, 3, 100, 1025, 30001}) {
    expect_norms(test::make_items<float>(test::pattern::mixed, n, test::seed()));
    expect_norms(test::make_items<double>(test::pattern::mixed, n, test::seed()));
    expect_norms(test::make_items<float>(test::pattern::subnormals, n, test::seed()));
    expect_norms(test::make_items<std::int16_t>(test::pattern::mixed, n, test::seed()));
    expect_norms(test::make_items<std::int32_t>(test::pattern::mixed, n, test::seed()));
  }
}

// Every exponent of a double, alone and next to ones of all sizes: a long double has room for the
// squares.
TEST(Norms, OfDoublesOfAnySizeAreRight) {
  if (LDBL_MAX_EXP <= 2 * DBL_MAX_EXP) GTEST_SKIP() << "long double has no room for squares";
  test::bit_stream random(test::seed());
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<double> x;
    const int scale = static_cast<int>(random.below(2040)) - 1050;
    const std::int64_t spread = 1 + random.below(trial % 2 == 0 ? 3 : 1200);
    for (std::int64_t i = 0; i < 1 + trial % 70; ++i) {
      const double one = 1.0 + static_cast<double>(random.next() >> 12) * 0x1p-52;
      x.push_back(std::ldexp(random.one_in(2) ? one : -one,
                             scale - static_cast<int>(random.below(spread))));
    }
    long double squares = 0;
    for (const double value : x) squares += static_cast<long double>(value) * value;
    const long double norm = std::sqrt(squares);
    const double got = tilefold::reduce(x, r::l2{});
    if (norm > DBL_MAX) {
      EXPECT_EQ(got, INFINITY);
    } else {
      EXPECT_LE(std::fabs(got - norm), 6 * u * norm + 0x1p-1074L) << norm << " of " << x.size();
    }
  }
}

TEST(Norms, DoNotOverflowOnTheWay) {
  EXPECT_EQ(tilefold::reduce(std::vector<double>{3e300, -4e300}, r::l2{}), 5e300);
  EXPECT_EQ(tilefold::reduce(std::vector<double>{0x3p-1073, 0x4p-1073}, r::l2{}), 0x5p-1073);
  EXPECT_EQ(tilefold::reduce(std::vector<double>(64, DBL_MAX), r::rms{}), DBL_MAX);
  EXPECT_EQ(tilefold::reduce(std::vector<double>(64, DBL_MAX), r::l2{}), INFINITY);
  EXPECT_EQ(tilefold::reduce(std::vector<float>{3e38f, -3e38f}, r::rms{}),
            static_cast<double>(3e38f));
}

TEST(Norms, OfSpecialValues) {
  const std::vector<double> with_nan{1, NAN, INFINITY, 1e-300, 1e300};
  const std::vector<double> with_infinity{1, -INFINITY, 1e-300, 1e300};
  const auto all = r::fuse(r::l1{}, r::l2{}, r::linf{}, r::rms{});
  const auto [a, b, c, d] = tilefold::reduce(with_nan, all);
  EXPECT_TRUE(std::isnan(a) && std::isnan(b) && std::isnan(c) && std::isnan(d));
  const auto [e, f, g, h] = tilefold::reduce(with_infinity, all);
  EXPECT_TRUE(e == INFINITY && f == INFINITY && g == INFINITY && h == INFINITY);
  const std::vector<double> zeros(5, -0.0);
  EXPECT_EQ(bool(std::signbit(tilefold::reduce(zeros, r::l2{}))), false);
  EXPECT_EQ(tilefold::reduce(zeros, r::l2{}), 0.0);
  EXPECT_EQ(tilefold::reduce(std::vector<std::int32_t>{INT32_MIN, 5}, r::linf{}), 0x80000000u);
  EXPECT_EQ(tilefold::reduce(std::vector<std::int8_t>{-128, 5}, r::linf{}), 128);
}

TEST(Products, KeepTheirBounds) {
  for (const std::int64_t n : {1, 3, 64, 1000, 20001}) {
    const auto x = test::make_items<double>(test::pattern::mixed, n, test::seed());
    const auto y = test::make_items<double>(test::pattern::mixed, n, test::seed() + 1);
    long double xy = 0;
    long double xx = 0;
    long double yy = 0;
    long double size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double product = static_cast<long double>(x[i]) * y[i];
      xy += product;
      size += std::fabs(product);
      xx += static_cast<long double>(x[i]) * x[i];
      yy += static_cast<long double>(y[i]) * y[i];
    }
    const long double depth = std::ceil(std::log2(static_cast<long double>(n)));
    const auto pair_of = [&](auto reducer) {
      return tilefold::transform_reduce(x.begin(), x.end(), y.begin(), reducer);
    };
    EXPECT_LE(std::fabs(pair_of(r::dot{}) - xy), (depth + 2) * u * size);
    const long double scale = std::sqrt(xx * yy);
    EXPECT_LE(std::fabs(pair_of(r::cosine{}) - xy / scale),
              (depth + 2) * u * size / scale + (depth + 4) * u * std::fabs(xy / scale));
  }
}

TEST(Products, DotHasTheBitsOfTransformReduce) {
  const auto x = test::make_items<float>(test::pattern::mixed, 10007, 1);
  const auto y = test::make_items<float>(test::pattern::mixed, 10007, 2);
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), r::dot{}),
            tilefold::transform_reduce(x.begin(), x.end(), y.begin(), -0.0f));
  const std::vector<std::int8_t> a{100, -128};
  const std::vector<std::int8_t> b{100, -128};
  EXPECT_EQ(tilefold::transform_reduce(a.begin(), a.end(), b.begin(), r::dot{}), 26384);
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), x.begin(), r::cosine{}), 1.0);
}

}  // namespace
}  // namespace tilefold
