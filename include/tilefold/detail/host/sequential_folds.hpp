// SPDX-License-Identifier: Apache-2.0
//
// How the host executor folds with sequential_blocks(): it folds the blocks of long trees as a
// forest, on all threads, and joins their values on the calling thread. Nothing here is inlined:
// the caller's function may be compiled for a target that can fuse (detail/core/closing.hpp).
//
//     trees      | block 0 | block 1 | block 2 | block 0 | block 1 | ..     up to 32768 blocks are
//     values         v0        v1        v2        w0        w1     ..     a forest; then the next
//     results       (v0 v1) v2                     w0 w1            ..
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilefold/detail/core/closing.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/host_access.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/sequential.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/core/strided.hpp>
#include <tilefold/detail/host/many_folds.hpp>
#include <tilefold/detail/verbs/verb.hpp>

namespace tilefold::detail {

namespace host {

/// A place for an accumulator, which need be neither default constructible nor assignable.
template <class T>
struct value_place {
  std::optional<T> value;

  void operator=(const T& folded) { value.emplace(folded); }

  /// Joins the value of `next`, which stands behind this one, to it.
  template <class Reducer>
  void join(const Reducer& reducer, const value_place& next) {
    if (value) {
      const T both = closed_steps<Reducer>{reducer}.combine(*value, *next.value);
      value.emplace(both);
    } else {
      value.emplace(*next.value);
    }
  }
};

/// A block of a tree.
struct tree_block {
  std::int64_t tree;
  std::int64_t first;
  std::int64_t count;
  bool is_last;
};

/// Blocks of trees of a forest, as a forest; refers to both. Indices count from the start of the
/// tree that a block is of.
template <class Forest>
struct forest_of_blocks {
  using source_type =
      decltype(detail::starting_at(detail::in_whole(std::declval<const Forest&>().tree(0), 0), 0));
  static constexpr bool in_one_range = false;

  const Forest& forest;
  const std::vector<tree_block>& blocks;

  std::int64_t size() const { return static_cast<std::int64_t>(blocks.size()); }
  std::int64_t count(std::int64_t i) const { return at(i).count; }
  source_type tree(std::int64_t i) const {
    return detail::starting_at(detail::in_whole(forest.tree(at(i).tree), 0), at(i).first);
  }

 private:
  const tree_block& at(std::int64_t i) const { return blocks[static_cast<std::size_t>(i)]; }
};

/// The accumulator of a tree.
template <class T>
struct tree_value {
  std::int64_t tree;
  T value;
};

/// The trees of more than `most_short` items, folded in blocks of Block that are joined from left
/// to right. They are returned, so that nothing is written before all memory is had. The blocks of
/// several trees are folded together, and few times: each time all threads wait for the last one
/// (2^28 floats by 2 threads: 0.8 of the speed of a plain sum with 4096 blocks at a time, 0.95 with
/// 32768).
template <class Policy, std::int64_t Block, class Executor, class Forest, class Reducer>
[[gnu::noinline]] std::vector<tree_value<typename Reducer::accumulator>> fold_long_trees(
    const Executor& exec, const Forest& forest, std::int64_t most_short, const Reducer& reducer) {
  using accumulator = typename Reducer::accumulator;
  using place = value_place<accumulator>;
  constexpr std::size_t most_blocks = 32768;
  std::vector<tree_value<accumulator>> folded;
  std::vector<tree_block> blocks;
  std::vector<place> values;
  place total;
  const auto fold_blocks = [&] {
    const forest_of_blocks<Forest> all{forest, blocks};
    values.resize(blocks.size());
    exec.template fold_forest<Policy>(all, all.size(), reducer, unfinished{}, unfinished{},
                                      raw_output<place>{values.data()});
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      total.join(reducer, values[i]);
      if (!blocks[i].is_last) continue;
      folded.push_back({blocks[i].tree, *total.value});
      total.value.reset();
    }
    blocks.clear();
  };
  for (std::int64_t t = 0, trees = forest.size(); t < trees; ++t) {
    const std::int64_t count = forest.count(t);
    if (count <= most_short) continue;
    for (std::int64_t first = 0; first < count; first += Block) {
      blocks.push_back({t, first, detail::smaller(count - first, Block), count - first <= Block});
      if (blocks.size() == most_blocks) fold_blocks();
    }
  }
  if (!blocks.empty()) fold_blocks();
  return folded;
}

/// The columns of `forest`, whose rows go by one stride, folded block of rows by block of rows.
template <class Policy, std::int64_t Block, class Executor, class Forest, class Reducer>
[[gnu::noinline]] std::vector<tree_value<typename Reducer::accumulator>> fold_column_sequences(
    const Executor& exec, const Forest& forest, const Reducer& reducer) {
  using accumulator = typename Reducer::accumulator;
  using place = value_place<accumulator>;
  const auto columns = static_cast<std::size_t>(forest.size());
  const std::int64_t rows = forest.rows.inner_extent();
  const std::int64_t stride = forest.rows.inner_stride();
  std::vector<place> values(columns);
  std::vector<place> totals(columns);
  for (std::int64_t first = 0; first < rows; first += Block) {
    const std::int64_t count = detail::smaller(rows - first, Block);
    const Forest block{detail::starting_at(forest.source, first * stride), forest.columns,
                       strided_axes{1, {count}, {stride}}};
    exec.template fold_columns<Policy>(block, reducer, unfinished{}, unfinished{},
                                       raw_output<place>{values.data()});
    for (std::size_t i = 0; i < columns; ++i) totals[i].join(reducer, values[i]);
  }
  std::vector<tree_value<accumulator>> folded;
  folded.reserve(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    folded.push_back({static_cast<std::int64_t>(i), *totals[i].value});
  }
  return folded;
}

template <class Forest, class Out>
inline constexpr bool writes_apart<short_results<Forest, Out>> = writes_apart<Out>;

/// Whether a source has indices before its items.
template <class Source>
inline constexpr bool has_indices =
    !std::same_as<decltype(detail::in_whole(std::declval<const Source&>(), 0)), Source>;

}  // namespace host

/// The primitives of a host executor in the order of sequential_blocks().
template <class Executor>
  requires requires { requires std::remove_cv_t<Executor>::looks_ahead; }
struct sequential_folds<Executor> {
  const Executor& exec;

  template <class Policy, class Source, std::int64_t Block, class Reducer, class Init>
  typename Reducer::result fold(const Source& source,
                                const sequential_reducer<Block, Reducer>& reducer, const Init& init,
                                std::int64_t n) const {
    if (n <= reducer.most_in_tree) {
      return exec.template fold<Policy>(source, reducer.of_block(), init, n);
    }
    const auto folded = host::fold_long_trees<Policy, Block>(exec, equal_forest{source, 1, n}, 0,
                                                             reducer.of_block());
    return finished(reducer.of_block(), init, folded[0].value);
  }

  template <class Policy, class Source, class Reducer, class Init, class Out>
  void fold_into(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                 const Out& out) const {
    exec.store(fold<Policy>(source, reducer, init, n), out);
  }

  template <class Policy, class Forest, std::int64_t Block, class Reducer, class Init, class Empty,
            class Out>
  void fold_forest(const Forest& forest, std::int64_t most_trees,
                   const sequential_reducer<Block, Reducer>& reducer, const Init& init,
                   const Empty& empty, const Out& out) const {
    constexpr std::int64_t most = sequential_reducer<Block, Reducer>::most_in_tree;
    const std::int64_t trees = forest.size();
    std::int64_t longer = 0;
    for (std::int64_t i = 0; i < trees; ++i) longer += forest.count(i) > most;
    if (longer == 0) {
      exec.template fold_forest<Policy>(forest, most_trees, reducer.of_block(), init, empty, out);
      return;
    }
    detail::require_host_access(out, "out");
    host::require_first_array(forest);
    const auto folded =
        host::fold_long_trees<Policy, Block>(exec, forest, most, reducer.of_block());
    if constexpr (!std::same_as<Empty, no_empty_tree>) {
      if (longer < trees) {
        exec.template fold_forest<Policy>(short_trees{forest, most}, most_trees, reducer.of_block(),
                                          init, empty, short_results{forest, most, out});
      }
    }
    write(out, folded, reducer.of_block(), init);
  }

  template <class Policy, class Forest, std::int64_t Block, class Reducer, class Init, class Empty,
            class Out>
  void fold_columns(const Forest& forest, const sequential_reducer<Block, Reducer>& reducer,
                    const Init& init, const Empty& empty, const Out& out) const {
    const std::int64_t n = forest.rows.size();
    if (n <= reducer.most_in_tree) {
      exec.template fold_columns<Policy>(forest, reducer.of_block(), init, empty, out);
      return;
    }
    detail::require_host_access(out, "out");
    if constexpr (!host::has_indices<typename Forest::source_type>) {
      if (forest.rows.rank == 1 && forest.size() > 1) {
        write(out, host::fold_column_sequences<Policy, Block>(exec, forest, reducer.of_block()),
              reducer.of_block(), init);
        return;
      }
    }
    write(out,
          host::fold_long_trees<Policy, Block>(exec, column_trees{forest}, 0, reducer.of_block()),
          reducer.of_block(), init);
  }

 private:
  template <class Reducer, class Init>
  [[gnu::noinline]] static typename Reducer::result finished(
      const Reducer& reducer, const Init& init, const typename Reducer::accumulator& folded) {
    return detail::finish(closed_steps<Reducer>{reducer}, init, folded);
  }

  template <class Out, class Acc, class Reducer, class Init>
  [[gnu::noinline]] static void write(const Out& out,
                                      const std::vector<host::tree_value<Acc>>& folded,
                                      const Reducer& reducer, const Init& init) {
    for (const auto& [tree, value] : folded) {
      detail::write_through(
          detail::starting_at(out, tree),
          detail::output_value<Out>(detail::finish(closed_steps<Reducer>{reducer}, init, value)));
    }
  }
};

}  // namespace tilefold::detail
