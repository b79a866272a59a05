// SPDX-License-Identifier: Apache-2.0
//
// Which elements minima, maxima and the best k are, by a sort: what arg_ reducers and top_k are
// held against.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../support/items.hpp"

namespace tilefold::test {

// The rules in their own words. NaN is nothing else than itself; -0 is less than +0.
template <class T>
bool not_a_number(const T& x) {
  if constexpr (std::integral<T>) {
    return false;
  } else {
    return std::isnan(
        static_cast<double>(static_cast<std::conditional_t<is_narrow_float<T>, float, T>>(x)));
  }
}
template <class T>
bool less(const T& a, const T& b) {
  if constexpr (std::integral<T>) {
    return a < b;
  } else {
    using wide = std::conditional_t<is_narrow_float<T>, float, T>;
    const auto x = static_cast<wide>(a);
    const auto y = static_cast<wide>(b);
    return x < y || (x == y && std::signbit(x) && !std::signbit(y));
  }
}

/// Whether item a is to be chosen before item b.
template <class T>
bool chosen_before(const T& a, const T& b, bool largest, nan_rule rule) {
  if (not_a_number(a) || not_a_number(b)) {
    if (not_a_number(a) && not_a_number(b)) return false;
    return not_a_number(a) == (rule == nan_rule::propagate);
  }
  return largest ? less(b, a) : less(a, b);
}

/// The places of all items, in the order in which they are chosen.
template <class T>
std::vector<std::int64_t> places_in_order(const std::vector<T>& x, bool largest, nan_rule rule) {
  std::vector<std::int64_t> places(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) places[i] = static_cast<std::int64_t>(i);
  std::stable_sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
    return chosen_before<T>(x[static_cast<std::size_t>(a)], x[static_cast<std::size_t>(b)], largest,
                            rule);
  });
  return places;
}

}  // namespace tilefold::test
