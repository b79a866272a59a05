// SPDX-License-Identifier: Apache-2.0
//
// The worked example examples/row_stats.hpp on the host: right to the last few bits, and the same
// bits for a row alone.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "../examples/row_stats.hpp"
#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

struct exact_row {
  long double sum_of_squares = 0;
  long double max = -std::numeric_limits<long double>::infinity();
  long double sum_of_exp = 0;
};

template <class T>
exact_row exact(const std::vector<T>& items) {
  exact_row row;
  for (const T& item : items) {
    const auto x = static_cast<long double>(static_cast<float>(item));
    row.sum_of_squares += x * x;
    row.max = std::max(row.max, x);
  }
  for (const T& item : items) {
    row.sum_of_exp += std::exp(static_cast<long double>(static_cast<float>(item)) - row.max);
  }
  return row;
}

void expect_close(float got, long double expected, long double relative) {
  constexpr long double underflow = std::numeric_limits<float>::min();
  EXPECT_LE(std::abs(static_cast<long double>(got) - expected),
            relative * std::abs(expected) + underflow)
      << got << " is not " << static_cast<double>(expected);
}

template <class T>
void rows_of(pattern p, std::int64_t rows, std::int64_t width) {
  const auto matrix = make_items<T>(p, rows * width, seed());
  const host_executor exec;
  std::vector<row_stats::row> out(static_cast<std::size_t>(rows));
  row_stats::of_rows(exec, matrix.data(), rows, width, out.data());
  const long double u = std::numeric_limits<float>::epsilon() / 2;
  const long double depth = std::ceil(std::log2(static_cast<long double>(width)));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::vector<T> items(matrix.begin() + i * width, matrix.begin() + (i + 1) * width);
    const auto& got = out[static_cast<std::size_t>(i)];
    const exact_row expected = exact(items);
    // A square, and the sums above it.
    expect_close(got.sum_of_squares, expected.sum_of_squares, (depth + 1) * u * 1.01L);
    EXPECT_EQ(static_cast<long double>(got.max), expected.max);
    // In double of exponentials about as precise as a float, rounded to float once.
    const long double exponentials = (1 + (depth + 1) / 32) * u;
    expect_close(got.sum_of_exp, expected.sum_of_exp, exponentials + 1.01L * u);
    const long double below_max = static_cast<float>(items[0]) - expected.max;
    expect_close(row_stats::softmax(got, static_cast<float>(items[0])),
                 std::exp(below_max) / expected.sum_of_exp, exponentials + (5 - below_max) * u);
    expect_close(row_stats::rms_scale(got, width, 1e-5f),
                 1 / std::sqrt(expected.sum_of_squares / static_cast<long double>(width) + 1e-5L),
                 (depth + 4) * u);
    row_stats::row alone;
    row_stats::of_rows(exec, items.data(), 1, width, &alone);
    EXPECT_EQ(std::memcmp(&alone, &got, sizeof alone), 0) << "row " << i;
  }
}

TEST(RowStats, OfFloats) {
  for (const pattern p : {pattern::mixed, pattern::near_one}) {
    rows_of<float>(p, 100, 1);
    rows_of<float>(p, 50, 333);
    rows_of<float>(p, 7, 4096);
  }
}

TEST(RowStats, OfHalves) {
  for (const pattern p : {pattern::mixed, pattern::near_one}) {
    rows_of<half>(p, 50, 333);
    rows_of<half>(p, 7, 4096);
  }
}

TEST(RowStats, OfBfloats) { rows_of<bfloat16>(pattern::near_one, 20, 1000); }

TEST(RowStats, OfNothing) {
  row_stats::row row;
  const float item = 1;
  row_stats::of_rows(host_executor(), &item, 1, 0, &row);
  EXPECT_EQ(row.sum_of_squares, 0.0f);
  EXPECT_EQ(row.max, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(row.sum_of_exp, 0.0f);
}

}  // namespace
}  // namespace tilefold::test
