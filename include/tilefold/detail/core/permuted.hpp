// SPDX-License-Identifier: Apache-2.0
//
// Items in another order: item k is values[positions[k]]. Plain values that host and device code
// share.
#pragma once

#include <cstdint>
#include <iterator>

#include <tilefold/detail/core/source.hpp>

namespace tilefold::detail {

/// Positions of items, as signed integers of 64 bits, whatever the array holds. Read in step with
/// the items they are the indices that a reducer may ask for.
template <class Word>
struct position_array {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;

  const Word* first;

  TILEFOLD_HD std::int64_t operator[](std::int64_t k) const {
    return static_cast<std::int64_t>(first[k]);
  }
  TILEFOLD_HD std::int64_t operator*() const { return (*this)[0]; }
  TILEFOLD_HD friend position_array operator+(const position_array& it, std::int64_t n) {
    return {it.first + n};
  }
};

/// The items of `values` at `positions`.
template <class Values, class Positions>
struct permuted {
  // See copies_rows in strided.hpp.
  using copies_rows_tag = permuted;
  using value_type = std::iter_value_t<Values>;
  using difference_type = std::int64_t;

  Values values;
  Positions positions;

  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD element_t<Values> operator[](std::int64_t k) const {
    return detail::element(values, positions[k]);
  }
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD element_t<Values> operator*() const { return (*this)[0]; }
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD friend permuted operator+(const permuted& it, std::int64_t n) {
    return {it.values, it.positions + n};
  }

  /// Copies items [begin, begin + n) to an array. For the host.
  void copy(std::int64_t begin, std::int64_t n, value_type* to) const
    requires std::contiguous_iterator<Values>
  {
    for (std::int64_t k = 0; k < n; ++k) to[k] = (*this)[begin + k];
  }
};

/// The elements that a bound fold reads of `values` at `positions`; with the positions before them
/// if its reducer asks for indices.
template <class Bound, class Values, class Positions>
auto permuted_source(const Values& values, const Positions& positions) {
  using items = permuted<Values, Positions>;
  if constexpr (Bound::indexed) {
    return source<Positions, items>{{positions}, {{values, positions}}};
  } else {
    return source<items>{{{values, positions}}};
  }
}

}  // namespace tilefold::detail
