// SPDX-License-Identifier: Apache-2.0
//
// Iterators and sources from another element on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <tilefold/config.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>

namespace tilefold::detail {

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
  using source_type = source<Its...>;
  return {{detail::starting_at(source_type::template iterator<Index>(elements), n)}...};
}

}  // namespace tilefold::detail
