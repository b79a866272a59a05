// SPDX-License-Identifier: Apache-2.0
//
// Where equal extremes stand, by std: the first and the last of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>

#include "../support/items.hpp"
#include "cases.hpp"

namespace tilefold::test {

constexpr auto propagate = nan_rule::propagate;
using first_and_last = r::arg_minmax<propagate, tie_rule::first, tie_rule::last>;
using last_and_first = r::arg_minmax<propagate, tie_rule::last, tie_rule::first>;

/// Indices of extremes, in the order: first and last minimum, first and last maximum.
template <class T>
std::vector<std::int64_t> places_by_std(const std::vector<T>& x) {
  const auto index = [&](auto it) { return static_cast<std::int64_t>(it - x.begin()); };
  const auto from_behind = [&](auto it) { return index(it.base()) - 1; };
  return {index(std::min_element(x.begin(), x.end())),
          from_behind(std::min_element(x.rbegin(), x.rend())),
          index(std::max_element(x.begin(), x.end())),
          index(std::minmax_element(x.begin(), x.end()).second)};
}

/// The same by the reducers; [first, first + n) is memory that `exec` reads.
template <class Exec, class T>
std::vector<std::int64_t> places_by_pairs(Exec&& exec, const T* first, std::int64_t n) {
  const auto a = tilefold::reduce(exec, first, first + n, first_and_last{});
  const auto b = tilefold::reduce(exec, first, first + n, last_and_first{});
  return {a.min.index, b.min.index, b.max.index, a.max.index};
}

template <class Exec, class T>
std::vector<std::int64_t> places_one_by_one(Exec&& exec, const T* first, std::int64_t n) {
  const auto place = [&](const auto& reducer) {
    return tilefold::reduce(exec, first, first + n, reducer).index;
  };
  return {place(r::arg_min<propagate, tie_rule::first>{}),
          place(r::arg_min<propagate, tie_rule::last>{}), place(r::arg_max<>{}),
          place(r::arg_max<propagate, tie_rule::last>{})};
}

/// So many items that are equal to others, of `kinds` values.
template <class T>
std::vector<T> items_with_ties(std::int64_t n, std::int64_t kinds, std::uint64_t seed) {
  bit_stream random(seed);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (auto& value : x) value = static_cast<T>(random.below(kinds) + 1);
  return x;
}

}  // namespace tilefold::test
