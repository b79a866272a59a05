// SPDX-License-Identifier: Apache-2.0
//
// Statistics that the host folds by blocks with vector instructions: the definition's bits under
// every instruction set, at the ends of blocks, and where a block holds what is not finite.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/seed.hpp"
#include "../support/views.hpp"
#include "every_target.hpp"

namespace tilefold::test {

/// Bare, where a division would round differences off.
struct deviations : detail::variance_base {
  double project(const detail::variance_state& state) const {
    return detail::canonical(state.deviations);
  }
};

}  // namespace tilefold::test

template <>
struct tilefold::detail::ways<tilefold::test::deviations> : variance_ways {};

namespace tilefold::test {
namespace {

const auto five = r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{});

template <class T>
void expect_definition(const std::vector<T>& x, const std::string& what) {
  SCOPED_TRACE(what + ", n = " + std::to_string(x.size()));
  expect_definition_of(five, x);
  expect_definition_of(r::mean{}, x);
  expect_definition_of(deviations{}, x);
  expect_definition_of(r::fuse(r::sum{}, r::fuse(r::mean_variance{}, r::max<nan_rule::ignore>{})),
                       x);
}

template <class T>
void expect_definition_of_all_kinds() {
  for (const std::int64_t n :
       {1,   2,   3,   4,    5,    8,    31,   63,   64,   100,  127,   128,   255,
        256, 511, 512, 1000, 1024, 2048, 4096, 4097, 8191, 8192, 20011, 200003}) {
    expect_definition(make_items<T>(pattern::mixed, n, seed()), "mixed");
    expect_definition(make_items<T>(pattern::near_one, n, seed()), "near one");
  }
  for (const pattern p : reducer_patterns<T>()) {
    expect_definition(make_items<T>(p, 20011, seed()), name_of(p));
  }
  auto x = make_items<T>(pattern::near_one, 20011, seed());
  x[5000] = std::numeric_limits<T>::infinity();
  expect_definition(x, "an infinity in the second block");
  x[5000] = x[15000] = std::numeric_limits<T>::max();
  expect_definition(x, "sums that overflow");
  x = make_items<T>(pattern::near_one, 20011, seed());
  for (T& value : x) value = T{1e6} + value;
  expect_definition(x, "far from 0");
  x = make_items<T>(pattern::near_one, 20011, seed());
  for (T& value : x) value = std::ldexp(value, std::numeric_limits<T>::min_exponent / 2 - 20);
  expect_definition(x, "squares that are subnormal in T");
}

TEST(StatisticsByBlocks, HaveTheDefinitionsBits) {
  expect_definition_of_all_kinds<float>();
  expect_definition_of_all_kinds<double>();
}

template <class T>
void expect_definition_of_every_size() {
  const auto items = make_items<T>(pattern::near_one, 16385, seed());
  const auto expect = [&](std::int64_t n) {
    SCOPED_TRACE("n = " + std::to_string(n));
    expect_definition_of(five, std::vector<T>(items.begin(), items.begin() + n));
  };
  for (std::int64_t n = 1; n <= 260; ++n) expect(n);
  for (std::int64_t n = 512; n <= 16384; n *= 2) {
    for (const std::int64_t near : {n - 1, n, n + 1}) expect(near);
  }
}

TEST(StatisticsByBlocks, OfEverySizeAroundAnEdge) {
  expect_definition_of_every_size<float>();
  expect_definition_of_every_size<double>();
}

template <class T>
void expect_definition_of_zeros() {
  using limits = std::numeric_limits<T>;
  for (const std::size_t n : {1u, 2u, 4u, 16u, 64u, 128u, 1024u, 4096u}) {
    for (const T other : {T{0}, -T{0}, limits::denorm_min(), -limits::denorm_min(), T{1}, -T{1}}) {
      for (const T zero : {T{0}, -T{0}}) {
        for (const std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
          SCOPED_TRACE(std::to_string(zero) + " at " + std::to_string(place) + " of " +
                       std::to_string(n) + " of " + std::to_string(other));
          std::vector<T> x(n, other);
          x[place] = zero;
          expect_definition_of(five, x);
          x[n - 1 - place] = -zero;
          expect_definition_of(five, x);
        }
      }
    }
  }
}

// Minima and maxima tell -0 from +0.
TEST(StatisticsByBlocks, OfZerosOfBothSigns) {
  expect_definition_of_zeros<float>();
  expect_definition_of_zeros<double>();
}

TEST(StatisticsByBlocks, SeeWhatIsNotFiniteAnywhere) {
  for (std::size_t place = 0; place < 256; ++place) {
    SCOPED_TRACE(place);
    auto x = make_items<float>(pattern::near_one, 256, seed());
    for (const float value : {std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(), std::nanf("")}) {
      x[place] = value;
      expect_definition_of(five, x);
    }
  }
}

// Rows of every length up to a few vectors: blocks of a power of two, and what is left over.
TEST(StatisticsByBlocks, OfRowsAreThoseOfEachRow) {
  for (const pattern p : reducer_patterns<float>()) {
    SCOPED_TRACE(name_of(p));
    const auto items = make_items<float>(p, 20000, seed());
    for (const std::int64_t n : {1, 2, 3, 5, 16, 63, 64, 100, 129, 255, 256, 1000, 1024, 5000}) {
      const std::int64_t rows = std::min<std::int64_t>(20000 / n, 40);
      std::vector<decltype(tilefold::reduce(items, five))> out(static_cast<std::size_t>(rows));
      tilefold::axis_reduce(host_executor(1), test_view{items.data(), right_layout({rows, n})},
                            test_view{out.data(), right_layout({rows})}, 1, five);
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto first = items.begin() + i * n;
        ASSERT_EQ(bits_of(out[static_cast<std::size_t>(i)]),
                  bits_of(by_definition(five, std::vector<float>(first, first + n))))
            << "row " << i << " of " << n;
      }
    }
  }
}

template <class R, class T>
void expect_definition_of_rows(const R& reducer, const std::vector<T>& items, std::int64_t n,
                               bool every_target = true) {
  const auto rows = static_cast<std::int64_t>(items.size()) / n;
  std::vector<std::string> expected;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto first = items.begin() + i * n;
    expected.push_back(bits_of(by_definition(reducer, std::vector<T>(first, first + n))));
  }
  for (int t = 0; const char* target = detail::host::simd_target(t); ++t) {
    if (!every_target && t > 0) break;
    if (every_target) detail::host::use_simd_target(target);
    std::vector<decltype(tilefold::reduce(items, reducer))> out(static_cast<std::size_t>(rows));
    tilefold::axis_reduce(host_executor(1), test_view{items.data(), right_layout({rows, n})},
                          test_view{out.data(), right_layout({rows})}, 1, reducer);
    for (std::size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(bits_of(out[i]), expected[i]) << target << ", row " << i << " of " << n;
    }
  }
  detail::host::use_simd_target(nullptr);
}

template <class T>
void expect_definition_of_short_rows() {
  using limits = std::numeric_limits<T>;
  const T special[] = {
      T{0},          -T{0},          limits::infinity(),  -limits::infinity(), limits::quiet_NaN(),
      limits::max(), -limits::max(), limits::denorm_min()};
  for (const std::int64_t n : {4, 8, 16, 32, 64, 128}) {
    // Whole vectors of rows, several calls of them, and what is left over.
    for (const std::int64_t rows : {1, 7, 16, 35, 128, 301}) {
      auto items = make_items<T>(pattern::mixed, n * rows, seed());
      expect_definition_of_rows(five, items, n);
      expect_definition_of_rows(r::fuse(r::mean{}, r::variance{}), items, n);
      // Rows that are left over keep to the instructions that they were first folded with.
      expect_definition_of_rows(r::fuse(r::max<nan_rule::ignore>{}, r::sum{}), items, n, false);
      // In one row of four.
      for (std::size_t k = 0; k < items.size(); k += static_cast<std::size_t>(4 * n)) {
        items[k + k / 4 % static_cast<std::size_t>(n)] =
            special[k / static_cast<std::size_t>(4 * n) % 8];
      }
      expect_definition_of_rows(five, items, n);
      // Only zeros, of both signs, and what is beside them.
      for (std::size_t k = 0; k < items.size(); ++k) {
        items[k] = k % 5 == 0 ? -T{0} : k % 64 == 33 ? T{-1} : k % 128 == 90 ? T{1} : T{0};
      }
      expect_definition_of_rows(five, items, n);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// Rows that are folded side by side, under every instruction set.
TEST(StatisticsByBlocks, OfShortRows) {
  expect_definition_of_short_rows<float>();
  expect_definition_of_short_rows<double>();
}

}  // namespace
}  // namespace tilefold::test
