// SPDX-License-Identifier: Apache-2.0
//
// What PyTorch gave on a GPU for reductions that no order of evaluation changes, written by
// make_torch_golden.py, and the items they were made of, spelled here a second time.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/op.hpp>

#include "../support/views.hpp"

namespace tilefold::test::golden {

struct torch_row {
  const char* what;
  int reduced;  // a set of axes; -1: segments
  std::size_t i;
  std::int64_t value;
};

inline constexpr torch_row torch_rows[] = {
#include "torch_golden.inc"
};

inline view_layout torch_layout() { return right_layout({3, 5, 2, 7}); }

inline std::vector<std::int64_t> torch_offsets() {
  const std::vector<std::int64_t> lengths{1, 2, 3, 4, 7, 8, 9, 31, 32, 33, 5, 1, 64, 10};
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

inline std::vector<std::int32_t> torch_integers() {
  std::vector<std::int32_t> items;
  for (std::uint32_t i = 0; i < 210; ++i) {
    std::uint32_t x = i * 2654435761u + 12345u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    items.push_back(static_cast<std::int32_t>(x));
  }
  return items;
}

inline std::vector<float> torch_floats() {
  std::vector<float> items;
  for (const std::int32_t x : torch_integers()) {
    items.push_back(std::ldexp(static_cast<float>(x), -20));
  }
  items[17] = std::numeric_limits<float>::quiet_NaN();
  items[90] = std::numeric_limits<float>::infinity();
  items[151] = -std::numeric_limits<float>::infinity();
  return items;
}

inline std::int64_t committed(std::int64_t value) { return value; }
inline std::int64_t committed(std::int32_t value) { return value; }
inline std::int64_t committed(float value) { return std::bit_cast<std::int32_t>(value); }

/// The results of the rows of `what` and `reduced`, which must be as many as there are.
template <class T>
void expect_rows(const std::string& what, int reduced, const std::vector<T>& results) {
  std::size_t found = 0;
  for (const torch_row& row : torch_rows) {
    if (row.what != what || row.reduced != reduced) continue;
    ASSERT_EQ(row.i, found) << what << ", " << reduced;
    ASSERT_LT(found, results.size()) << what << ", " << reduced;
    EXPECT_EQ(committed(results[found]), row.value) << what << ", " << reduced << ", " << found;
    ++found;
  }
  EXPECT_EQ(found, results.size()) << what << ", " << reduced;
}

/// `folds` tells how: axes<Acc>(items, set, op) and segments<Acc>(items, op) return vectors.
template <class Folds>
void expect_torch_results(const Folds& folds) {
  const auto integers = torch_integers();
  const auto floats = torch_floats();
  for (int set = 1; set < 16; ++set) {
    const auto reduced = static_cast<unsigned>(set);
    expect_rows("integer_sum", set, folds.template axes<std::int64_t>(integers, reduced, plus{}));
    expect_rows("integer_min", set,
                folds.template axes<std::int32_t>(integers, reduced, minimum{}));
    expect_rows("integer_max", set,
                folds.template axes<std::int32_t>(integers, reduced, maximum{}));
    expect_rows("float_min", set, folds.template axes<float>(floats, reduced, minimum{}));
    expect_rows("float_max", set, folds.template axes<float>(floats, reduced, maximum{}));
  }
  expect_rows("integer_sum", -1, folds.template segments<std::int64_t>(integers, plus{}));
  expect_rows("float_min", -1, folds.template segments<float>(floats, minimum{}));
  expect_rows("float_max", -1, folds.template segments<float>(floats, maximum{}));
}

}  // namespace tilefold::test::golden
