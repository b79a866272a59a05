// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers against MPFR, through every verb of the host.
#include <tilefold/reducers/exact.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/seed.hpp"
#include "mpfr.hpp"
#include "random_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;

std::uint64_t bits(double x) { return __builtin_bit_cast(std::uint64_t, x); }
std::uint64_t bits(float x) { return __builtin_bit_cast(std::uint32_t, x); }
std::uint64_t bits(half x) { return x.bits; }

template <class T>
std::vector<T> finite_items(int number, std::mt19937_64& random) {
  return test::random_multiset<T>(
      static_cast<test::exact_kind>(number % (test::num_exact_kinds - 1)),
      1 + static_cast<int>(random() % 60), random);
}

template <class T>
class ExactReducers : public testing::Test {};
using floats = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactReducers, floats);

TYPED_TEST(ExactReducers, AreRoundedOnce) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  for (int m = 0; m < 3000 && !testing::Test::HasFailure(); ++m) {
    SCOPED_TRACE(m);
    const auto x = finite_items<T>(m, random);
    auto y = x;
    std::shuffle(y.begin(), y.end(), random);
    test::real sum, squares, dot;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum.add(x[i]);
      squares.add_product(x[i], x[i]);
      dot.add_product(x[i], y[i]);
    }
    const auto positive_zero = [](T value) { return value == T{0} ? T{0} : value; };
    EXPECT_EQ(bits(positive_zero(tilefold::reduce(x, r::exact_sum{}))),
              bits(positive_zero(sum.rounded<T>())));
    EXPECT_EQ(bits(positive_zero(
                  tilefold::transform_reduce(x.begin(), x.end(), y.begin(), r::exact_dot{}))),
              bits(positive_zero(dot.rounded<T>())));
    EXPECT_EQ(bits(tilefold::reduce(x, r::exact_sum_of_squares{})), bits(squares.rounded<T>()));
    EXPECT_EQ(bits(tilefold::reduce(x, r::exact_sum_of_squares<double>{})),
              bits(squares.rounded<double>()));
    sum.divide(x.size());
    EXPECT_EQ(bits(positive_zero(tilefold::reduce(x, r::exact_mean{}))),
              bits(positive_zero(sum.rounded<T>())));
    squares.root();
    EXPECT_EQ(bits(tilefold::reduce(x, r::exact_l2{})), bits(squares.rounded<T>()));
    EXPECT_EQ(bits(tilefold::reduce(x, r::exact_l2<double>{})), bits(squares.rounded<double>()));
  }
}

TYPED_TEST(ExactReducers, BeginWithAnInitialValue) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  for (int m = 0; m < 1000 && !testing::Test::HasFailure(); ++m) {
    SCOPED_TRACE(m);
    const auto x = finite_items<T>(m, random);
    test::real sum;
    for (const T item : x) sum.add(item);
    // Half of the items stand before the others.
    const auto half_of_them = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
    exact_accumulator<T> init;
    init.add(x.begin(), half_of_them);
    const T got = tilefold::reduce(half_of_them, x.end(), init, r::exact_sum{});
    EXPECT_EQ(bits(got == T{0} ? T{0} : got), bits(sum.is_zero() ? T{0} : sum.rounded<T>()));
    EXPECT_EQ(bits(tilefold::reduce(x.end(), x.end(), init, r::exact_sum{})), bits(init.value()));
  }
}

/// Dot products that cancel, made as Ogita, Rump and Oishi do: one half of the products have
/// exponents from 0 to `spread`; each of the others takes away what there is so far, as well as its
/// type can, down to small ones.
template <class T>
struct two_lists {
  std::vector<T> x, y;
};
template <class T>
two_lists<T> ill_conditioned(int n, int spread, std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto of_size = [&](int exponent) {
    return static_cast<T>(std::ldexp(unit(random), exponent));
  };
  two_lists<T> lists;
  test::real sum;
  const auto push = [&](T x, T y) {
    lists.x.push_back(x);
    lists.y.push_back(y);
    sum.add_product(x, y);
  };
  const int half = n / 2;
  push(of_size(spread / 2), of_size(spread / 2));
  while (static_cast<int>(lists.x.size()) < half) {
    const int exponent = static_cast<int>(random() % static_cast<unsigned>(spread / 2 + 1));
    push(of_size(exponent), of_size(exponent));
  }
  for (int left = n - half; left > 0; --left) {
    const int exponent = spread / 2 * (left - 1) / (n - half);
    T x = of_size(exponent);
    while (x == T{0}) x = of_size(exponent);
    const double wanted = std::ldexp(unit(random), exponent) - sum.template rounded<double>();
    push(x, static_cast<T>(wanted / static_cast<double>(x)));
  }
  // In any order.
  for (std::size_t i = lists.x.size(); i > 1; --i) {
    const std::size_t j = random() % i;
    std::swap(lists.x[i - 1], lists.x[j]);
    std::swap(lists.y[i - 1], lists.y[j]);
  }
  return lists;
}

TYPED_TEST(ExactReducers, OfDotsThatCancel) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  constexpr int most_spread = std::is_same_v<T, float> ? 100 : 900;
  constexpr int rounds = 3000;
  int wrong = 0;
  for (int m = 0; m < rounds && !testing::Test::HasFailure(); ++m) {
    SCOPED_TRACE(m);
    const int spread = 10 + static_cast<int>(random() % (most_spread - 10));
    const int n = 6 + static_cast<int>(random() % (m % 10 == 0 ? 2000 : 60));
    const auto [x, y] = ill_conditioned<T>(n, spread, random);
    test::real dot;
    double plain = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      dot.add_product(x[i], y[i]);
      plain += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    }
    const auto expected = dot.rounded<double>();
    EXPECT_EQ(bits(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), r::exact_dot{})),
              bits(dot.rounded<T>()));
    EXPECT_EQ(
        bits(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), r::exact_dot<double>{})),
        bits(expected));
    EXPECT_EQ(bits(tilefold::transform_reduce(host_executor(2), x.begin(), x.end(), y.begin(),
                                              r::exact_dot<float>{})),
              bits(dot.rounded<float>()));
    wrong += std::abs(plain - expected) > 1e-3 * std::abs(expected) ? 1 : 0;
  }
  // They do cancel: doubles have lost all of many of them.
  EXPECT_GT(wrong, rounds / 3);
}

TEST(ExactDot, HasNoOverflowOnTheWayAndNoUnderflow) {
  const std::vector<double> x{1e200, 1.0, 1e200, 1e-200};
  const std::vector<double> y{1e200, 3.0, -1e200, 1e-200};
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), r::exact_dot{}), 3.0);
  const std::vector<double> tiny(1 << 10, 0x1p-540);
  EXPECT_EQ(tilefold::transform_reduce(tiny.begin(), tiny.end(), tiny.begin(), r::exact_dot{}),
            0x1p-1070);
}

TEST(ExactDot, OfTwoTypes) {
  const std::vector<float> x{1.5f, -2.0f};
  const std::vector<double> y{0x1p-60, 1.0};
  const std::vector<std::int32_t> k{3, 1 << 30};
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), r::exact_dot{}), -2.0);
  EXPECT_EQ(tilefold::transform_reduce(k.begin(), k.end(), y.begin(), r::exact_dot{}), 0x1p30);
  EXPECT_EQ(tilefold::transform_reduce(k.begin(), k.end(), k.begin(), r::exact_dot<double>{}),
            0x1p60 + 9);
  EXPECT_EQ(tilefold::transform_reduce(k.begin(), k.begin() + 1, k.begin(), r::exact_dot<float>{}),
            9.0f);
}

TEST(ExactReducers, OfHalvesAndIntegers) {
  const std::vector<half> h{half(3.0f), half(4.0f), half(65504.0f), half(-65504.0f)};
  EXPECT_EQ(bits(tilefold::reduce(h, r::exact_sum{})), bits(half(7.0f)));
  EXPECT_EQ(tilefold::reduce(h, r::exact_sum<float>{}), 7.0f);
  const std::vector<std::int8_t> bytes(1000, std::int8_t{-100});
  EXPECT_EQ(tilefold::reduce(bytes, r::exact_sum<float>{}), -100000.0f);
  EXPECT_EQ(tilefold::reduce(bytes, r::exact_mean{}), -100.0);
  EXPECT_EQ(tilefold::reduce(bytes, r::exact_l2{}), std::sqrt(1e7));
  const std::vector<bool> truths{true, false, true};
  EXPECT_EQ(tilefold::reduce(truths, r::exact_sum<double>{}), 2.0);
}

TEST(ExactReducers, OfComplexNumbersByParts) {
  const std::vector<std::complex<double>> z{{1e100, 1.0}, {1.0, -1e100}, {-1e100, 1e100}};
  EXPECT_EQ(tilefold::reduce(z, r::exact_sum{}), (std::complex<double>(1.0, 1.0)));
  EXPECT_EQ(tilefold::reduce(z, r::exact_mean{}), (std::complex<double>(1.0 / 3, 1.0 / 3)));
  const std::vector<std::complex<float>> narrow{{1.0f, 0x1p-30f}, {0x1p-40f, -1.0f}};
  EXPECT_EQ(tilefold::reduce(narrow, r::exact_sum<std::complex<double>>{}),
            (std::complex<double>(1.0 + 0x1p-40, 0x1p-30 - 1.0)));
  EXPECT_EQ(tilefold::reduce(narrow, r::exact_mean<std::complex<double>>{}),
            (std::complex<double>(0.5 + 0x1p-41, 0x1p-31 - 0.5)));
}

TYPED_TEST(ExactReducers, OfProductsOfComplexNumbers) {
  using T = TypeParam;
  using complex = std::complex<T>;
  std::mt19937_64 random(test::seed());
  for (int m = 0; m < 1000 && !testing::Test::HasFailure(); ++m) {
    SCOPED_TRACE(m);
    const auto x = finite_items<T>(m, random);
    auto y = x;
    std::shuffle(y.begin(), y.end(), random);
    std::vector<complex> z, w;
    test::real squares, re, im;
    for (std::size_t i = 0; i < x.size(); ++i) {
      z.emplace_back(x[i], y[i]);
      w.emplace_back(y[i], x[x.size() - 1 - i]);
      squares.add_product(x[i], x[i]);
      squares.add_product(y[i], y[i]);
      const T u = w.back().real(), v = w.back().imag();
      re.add_product(x[i], u);
      re.add_product(-y[i], v);
      im.add_product(x[i], v);
      im.add_product(y[i], u);
    }
    const auto dot = tilefold::transform_reduce(z.begin(), z.end(), w.begin(), r::exact_dot{});
    const auto wide = tilefold::transform_reduce(z.begin(), z.end(), w.begin(),
                                                 r::exact_dot<std::complex<double>>{});
    // MPFR has a sign of zero of its own.
    const auto expect_rounded = [](auto got, const test::real& expected) {
      if (expected.is_zero()) {
        EXPECT_EQ(got, 0);
      } else {
        EXPECT_EQ(bits(got), bits(expected.template rounded<decltype(got)>()));
      }
    };
    expect_rounded(dot.real(), re);
    expect_rounded(dot.imag(), im);
    expect_rounded(wide.real(), re);
    expect_rounded(wide.imag(), im);
    expect_rounded(tilefold::reduce(z, r::exact_sum_of_squares{}), squares);
    expect_rounded(tilefold::reduce(z, r::exact_sum_of_squares<double>{}), squares);
    squares.root();
    expect_rounded(tilefold::reduce(z, r::exact_l2{}), squares);
    expect_rounded(tilefold::reduce(host_executor(2), z, r::exact_l2<double>{}), squares);
  }
}

TEST(ExactReducers, OfProductsOfComplexNumbersThatCancel) {
  using complex = std::complex<double>;
  // Products: a^2 - a + (a^2 + a) i, then -a^2 - a^2 i, a - a i, and i.
  constexpr double a = 0x1p600;
  const std::vector<complex> z{{a, 1.0}, {-a, 0.0}, {1.0, 0.0}, {0.0, 1.0}};
  const std::vector<complex> w{{a, a}, {a, a}, {a, -a}, {1.0, 0.0}};
  EXPECT_EQ(tilefold::transform_reduce(z.begin(), z.end(), w.begin(), r::exact_dot{}),
            complex(0.0, 1.0));
  EXPECT_EQ(tilefold::reduce(std::vector<complex>{{3 * a, 4 * a}}, r::exact_l2{}), 5 * a);
}

TEST(ExactReducers, OfNothing) {
  const std::vector<double> none;
  EXPECT_EQ(bits(tilefold::reduce(none, r::exact_sum{})), bits(0.0));
  EXPECT_EQ(bits(tilefold::reduce(none, r::exact_l2{})), bits(0.0));
  EXPECT_EQ(tilefold::transform_reduce(none.begin(), none.end(), none.begin(), r::exact_dot{}),
            0.0);
  EXPECT_THROW((void)tilefold::reduce(none, r::exact_mean{}), empty_range_error);
}

TEST(ExactReducers, InEveryVerb) {
  std::mt19937_64 random(test::seed());
  std::vector<float> x;
  while (x.size() < 5000) {
    const auto more = finite_items<float>(static_cast<int>(x.size()), random);
    x.insert(x.end(), more.begin(), more.end());
  }
  const auto exact_of = [&](std::size_t begin, std::size_t end) {
    exact_accumulator<float> sum;
    for (std::size_t i = begin; i < end; ++i) sum.add(x[i]);
    return bits(sum.value());
  };
  const std::vector<int> offsets{0, 3, 3, 100, 1500, 5000};
  std::vector<float> sums(5);
  tilefold::segmented_reduce(x.begin(), offsets.begin(), 5, sums.begin(), r::exact_sum{});
  for (std::size_t s = 0; s < 5; ++s) {
    EXPECT_EQ(bits(sums[s]), exact_of(static_cast<std::size_t>(offsets[s]),
                                      static_cast<std::size_t>(offsets[s + 1])));
  }
  std::vector<int> keys(5000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i / 1000);
  std::vector<int> keys_out(5);
  EXPECT_EQ(tilefold::reduce_by_key(keys.begin(), keys.end(), x.begin(), keys_out.begin(),
                                    sums.begin(), r::exact_sum{}),
            5);
  for (std::size_t s = 0; s < 5; ++s) EXPECT_EQ(bits(sums[s]), exact_of(1000 * s, 1000 * s + 1000));
  const auto both =
      tilefold::reduce(x.begin(), x.begin() + 5000, r::fuse(r::exact_sum{}, r::max{}));
  EXPECT_EQ(bits(both.get<0>()), exact_of(0, 5000));
  EXPECT_EQ(both.get<1>(), *std::max_element(x.begin(), x.begin() + 5000));
}

// Rows of a matrix, folded away.
struct matrix_view {
  const double* first;
  std::int64_t extents[2];

  static constexpr int rank() { return 2; }
  const double* data_handle() const { return first; }
  std::int64_t extent(int i) const { return extents[i]; }
  std::int64_t stride(int i) const { return i == 0 ? extents[1] : 1; }
};
struct row_view {
  double* first;
  std::int64_t size;

  static constexpr int rank() { return 1; }
  double* data_handle() const { return first; }
  std::int64_t extent(int) const { return size; }
  static std::int64_t stride(int) { return 1; }
};

TEST(ExactReducers, OfColumns) {
  std::mt19937_64 random(test::seed());
  for (const std::int64_t rows : {1, 7, 128, 129, 1000}) {
    for (const std::int64_t width : {2, 16, 17, 100}) {
      std::vector<double> x;
      while (x.size() < static_cast<std::size_t>(rows * width)) {
        const auto more = finite_items<double>(static_cast<int>(random() % 1000), random);
        x.insert(x.end(), more.begin(), more.end());
      }
      std::vector<double> sums(static_cast<std::size_t>(width));
      std::vector<double> means(static_cast<std::size_t>(width));
      const matrix_view matrix{x.data(), {rows, width}};
      tilefold::axis_reduce(matrix, row_view{sums.data(), width}, 0, r::exact_sum{});
      tilefold::axis_reduce(matrix, row_view{means.data(), width}, 0, r::exact_mean{});
      for (std::int64_t c = 0; c < width; ++c) {
        exact_accumulator<double> expected;
        for (std::int64_t i = 0; i < rows; ++i) {
          expected.add(x[static_cast<std::size_t>(i * width + c)]);
        }
        ASSERT_EQ(bits(sums[static_cast<std::size_t>(c)]), bits(expected.value()));
        ASSERT_EQ(bits(means[static_cast<std::size_t>(c)]), bits(expected.mean(rows)));
      }
    }
  }
}

// Part by part, whatever the parts are.
TEST(ExactReducers, FusedWithOthers) {
  std::mt19937_64 random(test::seed());
  for (const std::size_t n : {1u, 5u, 100u, 8192u, 8193u, 100000u}) {
    std::vector<float> x;
    while (x.size() < n) {
      const auto more = finite_items<float>(static_cast<int>(random() % 1000), random);
      x.insert(x.end(), more.begin(), more.end());
    }
    x.resize(n);
    const auto fused =
        tilefold::reduce(x, r::fuse(r::mean{}, r::exact_sum{}, r::variance{}, r::sum{},
                                    r::exact_l2<double>{}, r::fuse(r::min{}, r::exact_mean{})));
    const auto same = [](auto a, auto b) { return bits(a) == bits(b) || (a != a && b != b); };
    EXPECT_TRUE(same(fused.get<0>(), tilefold::reduce(x, r::mean{})));
    EXPECT_TRUE(same(fused.get<1>(), tilefold::reduce(x, r::exact_sum{})));
    EXPECT_TRUE(same(fused.get<2>(), tilefold::reduce(x, r::variance{})));
    EXPECT_TRUE(same(fused.get<3>(), tilefold::reduce(x, r::sum{})));
    EXPECT_TRUE(same(fused.get<4>(), tilefold::reduce(x, r::exact_l2<double>{})));
    EXPECT_TRUE(same(fused.get<5>().get<0>(), tilefold::reduce(x, r::min{})));
    EXPECT_TRUE(same(fused.get<5>().get<1>(), tilefold::reduce(x, r::exact_mean{})));
  }
}

}  // namespace
}  // namespace tilefold
