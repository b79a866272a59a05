// SPDX-License-Identifier: Apache-2.0
//
// What the suites of exact reducers on a GPU share: cuda_suite_of_sums.cuh, of_products and
// of_verbs, for each type in programs of its own: reducers against accumulators on the host, which
// others compare with MPFR. (cuda_policies.cuh has policies.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reducers/exact.hpp>

#include "exact_types.hpp"
#include "many_items.hpp"
#include "random_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::any_items;
using test::bytes_of;
using test::exact_dot_of;
using test::exact_result_of;
using test::exact_sum_of;
using test::forest_items;
using test::items_of;

/// A reducer whose result is a double. Of doubles it is the one that names no type, for nvcc would
/// compile the same kernels a second time for the other.
template <template <class> class Reducer, class T>
using with_double_result =
    std::conditional_t<std::is_same_v<T, double>, Reducer<void>, Reducer<double>>;

template <class T>
exact_accumulator<T> sum_of(const std::vector<T>& items, std::size_t begin, std::size_t end) {
  exact_accumulator<T> sum;
  for (std::size_t i = begin; i < end; ++i) sum.add(items[i]);
  return sum;
}

/// Rounds of long ranges of a type: the host is slow over doubles far apart.
template <class T>
constexpr int rounds_of_spreads = sizeof(T) == 8 ? 3 : 6;

/// Stretches whose exponents spread over few or many, at the least, the largest or between; with
/// zeros, and stretches of zeros alone. Not `mixed`: of one spread and place.
template <class T>
std::vector<T> stretches(std::size_t n, bool mixed, std::mt19937_64& random) {
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

/// a, then what `of` makes of each of its items, then `last`.
template <class T, class Of>
std::vector<T> twice(const std::vector<T>& a, Of of, T last) {
  std::vector<T> result = a;
  for (const T x : a) result.push_back(of(x));
  result.push_back(last);
  return result;
}

}  // namespace
}  // namespace tilefold
