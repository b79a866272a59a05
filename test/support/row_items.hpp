// SPDX-License-Identifier: Apache-2.0
//
// Items of rows for log_softmax, and what it has to make of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/half.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/transform_rows.hpp>

#include "seed.hpp"

namespace tilefold::test {

/// Of mixed magnitudes, some masked, some far away, with a NaN at the end.
template <class T>
std::vector<T> row_items(std::int64_t n) {
  std::mt19937_64 random(seed());
  std::normal_distribution<float> normal(0, 8);
  std::vector<T> items(static_cast<std::size_t>(n));
  for (auto& item : items) item = static_cast<T>(normal(random));
  for (std::int64_t i = n / 2; i < n; i += 5) {
    items[i] = static_cast<T>(-std::numeric_limits<float>::infinity());
  }
  if (n > 200) {
    items[n - 1] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    items[n / 3] = static_cast<T>(3e4f);
    items[n / 4] = static_cast<T>(-1e6f);
    items[n / 5] = static_cast<T>(2e5f);  // of half, an infinity
  }
  return items;
}

/// x - logsumexp, by another way than the library's: in double, to float, to Out.
template <class Out, class T>
Out less(const T& x, double value) {
  const volatile double difference =
      static_cast<double>(
          static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(x)) -
      value;
  if constexpr (std::is_same_v<Out, double>) {
    return difference;
  } else {
    return static_cast<Out>(static_cast<float>(difference));
  }
}

template <class T>
bool same_bits(const T& a, const T& b) {
  const auto is_nan = [](const T& x) {
    if constexpr (std::is_same_v<T, double>) {
      return x != x;
    } else {
      return static_cast<float>(x) != static_cast<float>(x);
    }
  };
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (is_nan(a) && is_nan(b));
}

/// That of `rows` rows of n items `got` holds what reduce() of each row says.
template <class T, class Out>
void expect_log_softmax_of(const std::vector<T>& x, const std::vector<Out>& got, std::int64_t rows,
                           std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* const row = x.data() + r * n;
    const double value = reduce(host_executor(), row, row + n, reducers::logsumexp{});
    for (std::int64_t j = 0; j < n; ++j) {
      ASSERT_TRUE(same_bits(got[r * n + j], less<Out>(row[j], value)))
          << "item " << j << " of row " << r << " of " << n << " items, seed " << seed();
    }
  }
}

template <class T, class Out, class Executor>
void expect_log_softmax(const Executor& exec, std::int64_t rows, std::int64_t n) {
  const std::vector<T> x = row_items<T>(rows * n);
  std::vector<Out> got(x.size());
  log_softmax(exec, x.data(), rows, n, got.data());
  expect_log_softmax_of(x, got, rows, n);
}

}  // namespace tilefold::test
