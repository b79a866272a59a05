// SPDX-License-Identifier: Apache-2.0
//
// What `tilefold stats` tells of an array, as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

#include "exact_sum.hpp"
#include "scalar.hpp"

namespace tilefold::tool {

struct placed_value {
  scalar value;  // of the array's type
  std::int64_t index;
};

/// What there is to say if at least one item is a number.
struct number_summary {
  std::variant<double, exact_sum> sum;  // exact for integers
  double mean;
  double deviation;  // standard, of a sample
  placed_value min;
  placed_value max;
  double l1;
  double l2;
  scalar linf;
};

/// NaN are left out of everything but `missing`.
struct summary {
  std::int64_t count;    // all items
  std::int64_t missing;  // NaN
  std::optional<number_summary> numbers;
};

/// Items of a piece: a power of two, of which the last piece may have fewer.
inline constexpr std::int64_t piece_items = std::int64_t{1} << 22;

struct summary_job {
  dtype type;  // not complex
  const std::byte* data;
  std::int64_t count;
  std::function<void(std::int64_t bytes)> advance;  // called for each piece that has been folded
};

}  // namespace tilefold::tool
