// SPDX-License-Identifier: Apache-2.0
//
// Functions, sizes and items to test reducers with, and what a reducer makes of items by
// definition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <tilefold/accumulator.hpp>
#include <tilefold/reducer.hpp>

#include "../support/bits_of.hpp"
#include "../support/items.hpp"
#include "../support/oracle.hpp"

namespace tilefold::reducers {}

namespace tilefold::test {

namespace r = tilefold::reducers;

/// What a reducer makes of values by definition: the neighbour tree of its lifts.
template <class R, class... Values>
auto by_definition(const R& reducer, const std::vector<Values>&... values) {
  const auto& first = std::get<0>(std::tie(values...));
  using acc = detail::reducer_accumulator_t<R, Values...>;
  const auto leaf = [&](std::size_t i) -> acc {
    if constexpr (detail::is_indexed<R>) {
      return reducer.lift(Values(values[i])..., static_cast<std::int64_t>(i));
    } else {
      return reducer.lift(Values(values[i])...);
    }
  };
  const auto join = [&](const acc& a, const acc& b) { return reducer.combine(a, b); };
  return reducer.project(tree_of_leaves<acc>(join, leaf, 0, first.size()));
}

struct positive {
  template <class T>
  TILEFOLD_HD bool operator()(const T& value) const {
    return detail::convert<double>(value) > 0.0;
  }
};

struct distance_from_two {
  template <class T>
  TILEFOLD_HD double operator()(const T& value) const {
    const double x = detail::convert<double>(value);
    return x < 2.0 ? 2.0 - x : x - 2.0;
  }
};

struct farther {
  TILEFOLD_HD bool operator()(double a, double b) const { return a > b; }
};

// A reducer of the user's: how many elements, and how many changes of sign between neighbours.
struct sign_runs {
  std::int32_t changes;
  std::int32_t first;
  std::int32_t last;
};
struct lift_sign {
  template <class T>
  TILEFOLD_HD sign_runs operator()(const T& value) const {
    const std::int32_t sign = positive{}(value) ? 1 : 0;
    return {0, sign, sign};
  }
};
struct join_runs {
  TILEFOLD_HD sign_runs operator()(const sign_runs& a, const sign_runs& b) const {
    return {a.changes + b.changes + (a.last != b.first ? 1 : 0), a.first, b.last};
  }
};
struct count_changes {
  TILEFOLD_HD std::int32_t operator()(const sign_runs& runs) const { return runs.changes; }
};

/// Every operand's sizes: the ends of packets, rows, warps' chunks and tiles.
inline std::vector<std::int64_t> reducer_sizes() {
  return {1,    2,    3,    4,    5,    7,    8,    15,   16,   17,    31,    33,
          63,   64,   65,   100,  127,  129,  255,  257,  511,  513,   1000,  1023,
          1025, 2047, 2049, 4095, 4097, 8191, 8192, 8193, 9999, 16385, 32769, 100003};
}

/// Kinds of data that say something about reducers of T.
template <class T>
std::vector<pattern> reducer_patterns() {
  if constexpr (layout_known<T>) {
    return {pattern::mixed,    pattern::near_one,   pattern::nan_first,    pattern::nan_middle,
            pattern::nan_last, pattern::many_nans,  pattern::one_infinity, pattern::both_infinities,
            pattern::zeros,    pattern::subnormals, pattern::any_bits};
  } else {
    return {pattern::any_bits};
  }
}

}  // namespace tilefold::test
