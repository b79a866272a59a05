// SPDX-License-Identifier: Apache-2.0
//
// Where the elements of a fold come from: one or more random-access iterators that are read at the
// same index, with the index itself before them if a reducer asks for it. A source is a plain value
// that host and device code share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <tilefold/config.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail {

// Element i as a value of the iterator's value type; proxies (thrust::device_reference,
// vector<bool>::reference) are converted, real references are passed on.
template <class It>
using element_t = std::conditional_t<std::is_lvalue_reference_v<std::iter_reference_t<It>>,
                                     const std::iter_value_t<It>&, std::iter_value_t<It>>;

TILEFOLD_NO_EXEC_CHECK
template <class It>
TILEFOLD_HD element_t<It> element(const It& first, std::int64_t i) {
  return static_cast<element_t<It>>(first[static_cast<std::iter_difference_t<It>>(i)]);
}

/// An iterator as a fold reads it: a pointer leads to const items, so that T* and const T* share
/// their kernels.
template <class It>
constexpr It read_only(It it) {
  return it;
}
template <class T>
  requires(!std::is_volatile_v<T>)
constexpr const T* read_only(T* it) {
  return it;
}

template <std::size_t Index, class It>
struct source_leaf {
  It first;
};

template <class Indices, class... Its>
struct source_of;

template <std::size_t... Index, class... Its>
struct source_of<std::index_sequence<Index...>, Its...> : source_leaf<Index, Its>... {
  template <std::size_t I, class It>
  TILEFOLD_HD static const It& iterator(const source_leaf<I, It>& leaf) {
    return leaf.first;
  }

  template <class Reducer>
  TILEFOLD_HD typename Reducer::accumulator lift(const Reducer& reducer, std::int64_t i) const {
    return reducer.lift(detail::element(iterator<Index>(*this), i)...);
  }

  /// Adds element i to the accumulator of elements before it (bound_reducer).
  template <class Reducer>
  TILEFOLD_HD void absorb(const Reducer& reducer, typename Reducer::accumulator& value,
                          std::int64_t i) const {
    reducer.absorb(value, detail::element(iterator<Index>(*this), i)...);
  }
};

/// One or more iterators read in step; the reducer lifts one element of each into an accumulator.
template <class... Its>
using source = source_of<std::index_sequence_for<Its...>, Its...>;

/// The source of what place(iterator) makes of each iterator of a source, the first one first.
TILEFOLD_NO_EXEC_CHECK
template <class Place, std::size_t... Index, class... Its>
TILEFOLD_HD auto placed(const source_of<std::index_sequence<Index...>, Its...>& items,
                        const Place& place) {
  return source<decltype(place(items.template iterator<Index>(items)))...>{
      {place(items.template iterator<Index>(items))}...};
}

/// The sequence 0, 1, 2...: read in step with a range it yields each element's index. It leads to
/// no memory.
struct index_iterator {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;

  TILEFOLD_HD std::int64_t operator[](std::int64_t i) const { return i; }
  TILEFOLD_HD std::int64_t operator*() const { return 0; }
};

/// An iterator `n` elements on.
TILEFOLD_NO_EXEC_CHECK
template <class It>
TILEFOLD_HD auto starting_at(const It& first, std::int64_t n) {
  return first + static_cast<std::iter_difference_t<It>>(n);
}

// Elements are counted from the start of their tree.
TILEFOLD_HD inline index_iterator starting_at(const index_iterator& indices, std::int64_t) {
  return indices;
}

template <std::size_t... Index, class... Its>
TILEFOLD_HD source<Its...> starting_at(
    const source_of<std::index_sequence<Index...>, Its...>& elements, std::int64_t n) {
  return {{detail::starting_at(elements.template iterator<Index>(elements), n)}...};
}

template <class R>
inline constexpr bool is_indexed = requires { requires R::indexed; };

}  // namespace tilefold::detail

TILEFOLD_WARNINGS_BACK
