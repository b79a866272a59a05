// SPDX-License-Identifier: Apache-2.0
//
// What the folds of sequential_blocks() share: the reducer that asks for that order, the trees of a
// forest that are short enough for the neighbour tree, and the elements of a column from any of
// them on. Plain values that host and device code share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <tilefold/detail/core/folding.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/core/strided.hpp>

namespace tilefold::detail {

/// A reducer whose items are folded in blocks of `Block`, joined from left to right.
template <std::int64_t Block, class Reducer>
struct sequential_reducer : Reducer {
  // Up to three blocks, joining from left to right is the neighbour tree: ((b0 b1) b2).
  static constexpr std::int64_t most_in_tree = 3 * Block;

  // Hides the reducer's own, so that this is no reducer for executors (folding): those fold in the
  // order of the neighbour tree.
  struct commutative;

  /// The reducer of a block.
  TILEFOLD_HD const Reducer& of_block() const { return *this; }
};

/// The trees of a forest that have at most `most_items` items. The others seem to be empty.
template <class Forest>
struct short_trees {
  using source_type = typename Forest::source_type;
  static constexpr bool in_one_range = false;

  Forest forest;
  std::int64_t most_items;

  TILEFOLD_HD std::int64_t size() const { return forest.size(); }
  TILEFOLD_HD std::int64_t count(std::int64_t i) const {
    const std::int64_t items = forest.count(i);
    return items <= most_items ? items : 0;
  }
  TILEFOLD_HD auto tree(std::int64_t i) const { return forest.tree(i); }
  TILEFOLD_HD short_trees from(std::int64_t i) const { return {forest.from(i), most_items}; }
};

template <class Forest>
short_trees(Forest, std::int64_t) -> short_trees<Forest>;

/// One place of short_results.
template <class Out>
struct short_result {
  Out out;
  bool is_short;

  TILEFOLD_HD const short_result& operator*() const { return *this; }
  TILEFOLD_NO_EXEC_CHECK
  template <class Result>
  TILEFOLD_HD void operator=(const Result& result) const {
    if (is_short) detail::write_through(out, detail::output_value<Out>(result));
  }
};

/// Where the results of short_trees go: `out`, but nothing is written in the place of a longer
/// tree.
template <class Forest, class Out>
struct short_results {
  using difference_type = std::int64_t;

  Forest forest;
  std::int64_t most_items;
  Out out;

  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD friend auto operator+(const short_results& results, std::int64_t i) {
    return short_result<decltype(detail::starting_at(results.out, i))>{
        detail::starting_at(results.out, i), results.forest.count(i) <= results.most_items};
  }
};

template <class Forest, class Out>
short_results(Forest, std::int64_t, Out) -> short_results<Forest, Out>;

/// The elements of a column whose rows lie as `axes` says, from element `begin` on.
template <class It>
struct column_items {
  using value_type = std::iter_value_t<It>;
  using difference_type = std::int64_t;
  using reference = std::iter_reference_t<It>;

  It first;
  strided_axes axes;
  std::int64_t begin;

  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD reference operator[](std::int64_t i) const {
    return first[static_cast<std::iter_difference_t<It>>(axes.offset(begin + i))];
  }
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD reference operator*() const { return (*this)[0]; }
  TILEFOLD_HD friend column_items operator+(const column_items& it, std::int64_t n) {
    return {it.first, it.axes, it.begin + n};
  }
};

template <class It>
TILEFOLD_HD column_items<It> items_of_column(const It& first, const strided_axes& rows,
                                             std::int64_t at) {
  return {detail::starting_at(first, at), rows, 0};
}
TILEFOLD_HD inline position_iterator items_of_column(const index_iterator&, const strided_axes&,
                                                     std::int64_t) {
  return {0};
}

/// The source of the elements of column i, which may be started at any element.
template <std::size_t... Index, class... Its>
TILEFOLD_HD auto column_of(
    const column_forest<source_of<std::index_sequence<Index...>, Its...>>& forest, std::int64_t i) {
  const std::int64_t at = forest.columns.offset(i);
  return detail::placed(
      forest.source, [&](const auto& it) { return detail::items_of_column(it, forest.rows, at); });
}

/// The columns of a forest as trees that may be started at any element.
template <class Forest>
struct column_trees {
  using source_type = decltype(detail::column_of(std::declval<const Forest&>(), 0));
  static constexpr bool in_one_range = false;

  Forest forest;

  TILEFOLD_HD std::int64_t size() const { return forest.size(); }
  TILEFOLD_HD std::int64_t count(std::int64_t i) const { return forest.count(i); }
  TILEFOLD_HD source_type tree(std::int64_t i) const { return detail::column_of(forest, i); }
};

template <class Forest>
column_trees(Forest) -> column_trees<Forest>;

}  // namespace tilefold::detail
