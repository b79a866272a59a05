// SPDX-License-Identifier: Apache-2.0
//
// Forests (forest.hpp) whose size stands in memory that the executor reads (deferred.hpp).
#pragma once

#include <cstdint>

#include <tilefold/config.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/forest.hpp>

namespace tilefold::detail {

/// A deferred size that an executor can read through Number.
template <class Number>
struct size_in_memory {
  Number at;
  std::int64_t most;

  TILEFOLD_HD std::int64_t get() const {
    const auto size = detail::element(at, 0);
    if (detail::is_negative(size)) return 0;
    const auto magnitude = static_cast<std::uint64_t>(size);
    return magnitude > static_cast<std::uint64_t>(most) ? most
                                                        : static_cast<std::int64_t>(magnitude);
  }
};

/// Trees that are segments one after the other, as of offsets_forest, of a deferred number.
template <class Source, class Offsets, class Number>
struct deferred_forest {
  using source_type = Source;
  static constexpr bool in_one_range = true;

  Source source;
  Offsets offsets;
  size_in_memory<Number> num_trees;
  std::int64_t skipped;

  TILEFOLD_HD std::int64_t size() const { return num_trees.get() - skipped; }
  TILEFOLD_HD std::int64_t first(std::int64_t i) const {
    return static_cast<std::int64_t>(detail::element(offsets, i));
  }
  TILEFOLD_HD std::int64_t count(std::int64_t i) const { return first(i + 1) - first(i); }
  TILEFOLD_HD Source tree(std::int64_t i) const { return detail::starting_at(source, first(i)); }
  TILEFOLD_HD deferred_forest from(std::int64_t i) const {
    return {source, detail::starting_at(offsets, i), num_trees, skipped + i};
  }
  TILEFOLD_HD element_range all_items() const { return {first(0), first(size())}; }
};

/// One tree of a deferred number of items.
template <class Source, class Number>
struct deferred_tree {
  using source_type = Source;
  static constexpr bool in_one_range = true;

  Source source;
  size_in_memory<Number> num_items;

  TILEFOLD_HD std::int64_t size() const { return 1; }
  TILEFOLD_HD std::int64_t first(std::int64_t i) const { return i == 0 ? 0 : num_items.get(); }
  TILEFOLD_HD std::int64_t count(std::int64_t) const { return num_items.get(); }
  TILEFOLD_HD Source tree(std::int64_t) const { return source; }
  TILEFOLD_HD deferred_tree from(std::int64_t) const { return *this; }
  TILEFOLD_HD element_range all_items() const { return {0, num_items.get()}; }
};

}  // namespace tilefold::detail
