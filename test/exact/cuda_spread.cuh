// SPDX-License-Identifier: Apache-2.0
//
// Items whose exponents are spread, for exact sums. spread_items(): neighbours with few or many
// exponents. cancelling(): items as far apart as can be, so that nothing that a warp takes at once
// fits together: all binades in every tile, and the least beside the largest. Large items cancel,
// so that a lost bit is the result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "random_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bytes_of;
using test::gpu_array;

/// Rounds of spread_items() that a test takes: the host adds doubles that lie far apart slowly.
template <class T>
constexpr int rounds_of_spreads = sizeof(T) == 8 ? 3 : 6;

/// n items. The exponents of neighbours spread over few or many values: the least, the largest, or
/// some between. Some items are zeros, and in some places all are. If `mixed`, spread and place
/// change within the range.
template <class T>
std::vector<T> spread_items(std::size_t n, bool mixed, std::mt19937_64& random) {
  constexpr int exponents = test::float_layout<T>::exponents;
  const auto below = [&](int bound) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(bound));
  };
  std::vector<T> items;
  while (items.size() < n) {
    constexpr int spreads[] = {1, 2, 8, 16, 20, 23, 24, 39, 40, 41, 42, 79, 80, 81, 120, exponents};
    const int spread = std::min(exponents, spreads[below(16)]);
    const int place = below(4);
    const int lowest = place == 0   ? 0
                       : place == 1 ? exponents - spread
                                    : below(exponents - spread + 1);
    const int zeros = below(8) == 0 ? 1 : 64;  // one item in so many
    const bool of_minus = below(2) == 0;
    const std::size_t length = mixed ? static_cast<std::size_t>(1 + below(20000)) : n;
    for (std::size_t i = 0; i < length; ++i) {
      const bool zero = below(zeros) == 0;
      items.push_back(test::float_of<T>(zero ? of_minus : below(2) == 0,
                                        zero ? 0 : lowest + below(spread), zero ? 0 : random()));
    }
  }
  items.resize(n);
  return items;
}

/// The items of a, then the partner of each of them, then `last`.
template <class T, class Partner>
std::vector<T> with_partners(const std::vector<T>& a, Partner partner, T last) {
  std::vector<T> result = a;
  for (const T x : a) result.push_back(partner(x));
  result.push_back(last);
  return result;
}

enum class pattern {
  all_binades,  // any `exponents` neighbours have all exponents
  both_ends,    // the largest and the least in turn
};

/// n items in a pattern, of both signs.
template <class T>
std::vector<T> far_apart(pattern how, std::size_t n, std::mt19937_64& random) {
  constexpr std::size_t exponents = test::float_layout<T>::exponents;
  static_assert(exponents % 37 != 0);  // so that steps of 37 meet all of them
  std::vector<T> items;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t exponent = how == pattern::all_binades ? (37 * i + i / exponents) % exponents
                                 : i % 2 == 0                ? exponents - 1
                                                             : 0;
    items.push_back(test::float_of<T>(random() % 2 == 0, static_cast<int>(exponent), random()));
  }
  return items;
}

/// Items of a pattern, then what takes them away again, in another order, and last the least number
/// there is. It is their sum.
template <class T>
std::vector<T> cancelling(pattern how, std::size_t n, std::mt19937_64& random) {
  auto items = far_apart<T>(how, n / 2, random);
  auto away = items;
  std::rotate(away.begin(), away.begin() + static_cast<std::ptrdiff_t>(n / 5), away.end());
  for (T& x : away) x = test::negated(x);
  items.insert(items.end(), away.begin(), away.end());
  items.push_back(test::float_of<T>(false, 0, 1));
  return items;
}

/// A short range, a cluster's, a grid's and a long one.
constexpr std::size_t sizes[] = {1000, 20'000, 300'000, (1u << 22) + 78};

template <class T, class Executor>
void expect_the_least(Executor& gpu) {
  std::mt19937_64 random(test::seed());
  const T least = test::float_of<T>(false, 0, 1);
  for (const auto how : {pattern::all_binades, pattern::both_ends}) {
    for (const std::size_t n : sizes) {
      SCOPED_TRACE(testing::Message() << n << " items, pattern " << static_cast<int>(how));
      const auto items = cancelling<T>(how, n, random);
      const gpu_array<T> on_gpu(items);
      const T* const first = on_gpu.data();
      const T* const last = on_gpu.end();
      EXPECT_EQ(bytes_of(reduce(gpu, first, last, r::exact_sum{})), bytes_of(least));
      EXPECT_EQ(bytes_of(reduce(gpu, first, last - 1, r::exact_sum{})), bytes_of(T{}));
      // From the second item on it is what takes the first away, rounded with the least number.
      exact_accumulator<T> expected(test::negated(items[0]));
      expected.add(least);
      EXPECT_EQ(bytes_of(reduce(gpu, first + 1, last, r::exact_sum{})), bytes_of(expected.value()));
    }
  }
}

}  // namespace
}  // namespace tilefold
