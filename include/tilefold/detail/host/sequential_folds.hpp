// SPDX-License-Identifier: Apache-2.0
//
// How the host executor folds with sequential_blocks(): it folds the blocks of a range as a forest,
// on all threads, and joins their values on the calling thread. Nothing here is inlined: the
// caller's function may be compiled for a target that can fuse (detail/core/closing.hpp).
//
//     items     |  block 0  |  block 1  |  block 2  | .. | 4095 |  block 4096  |  ..
//     values         v0          v1          v2       ..            a forest at a time
//     total     ((v0 v1) v2) ..                                     joined, then the next forest
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
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

/// Accumulators of n elements of `source` in blocks of Block, joined from left to right; n >= 1.
template <class Policy, std::int64_t Block, class Executor, class Source, class Reducer>
[[gnu::noinline]] typename Reducer::accumulator fold_sequence(const Executor& exec,
                                                              const Source& source,
                                                              const Reducer& reducer,
                                                              std::int64_t n) {
  using place = value_place<typename Reducer::accumulator>;
  constexpr std::int64_t most_places = 4096;
  const std::int64_t places = detail::smaller(tree::num_blocks(n, Block), most_places);
  std::vector<place> values(static_cast<std::size_t>(places));
  // Indices count from the start of the range, not of a block.
  const auto items = detail::in_whole(source, 0);
  place total;
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t left = n - done;
    const std::int64_t trees = left < Block ? 1 : detail::smaller(left / Block, most_places);
    const std::int64_t length = detail::smaller(left, Block);
    exec.template fold_forest<Policy>(equal_forest{detail::starting_at(items, done), trees, length},
                                      trees, reducer, unfinished{}, unfinished{},
                                      raw_output<place>{values.data()});
    for (std::int64_t i = 0; i < trees; ++i) {
      total.join(reducer, values[static_cast<std::size_t>(i)]);
    }
    done += trees * length;
  }
  return *total.value;
}

/// Folds the columns of `forest`, whose rows go by one stride, block of rows by block of rows;
/// calls keep(i, accumulator of column i).
template <class Policy, std::int64_t Block, class Executor, class Forest, class Reducer, class Keep>
[[gnu::noinline]] void fold_column_sequences(const Executor& exec, const Forest& forest,
                                             const Reducer& reducer, const Keep& keep) {
  using place = value_place<typename Reducer::accumulator>;
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
  for (std::size_t i = 0; i < columns; ++i) {
    keep(static_cast<std::int64_t>(i), *totals[i].value);
  }
}

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
    return finished(reducer.of_block(), init,
                    host::fold_sequence<Policy, Block>(exec, source, reducer.of_block(), n));
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
    if constexpr (!std::same_as<Empty, no_empty_tree>) {
      // Writes what stands for empty trees in the place of longer ones, too, which are next.
      if (longer < trees) {
        exec.template fold_forest<Policy>(short_trees{forest, most}, most_trees, reducer.of_block(),
                                          init, empty, out);
      }
    }
    for (std::int64_t i = 0; i < trees; ++i) {
      const std::int64_t n = forest.count(i);
      if (n <= most) continue;
      write(out, i, reducer.of_block(), init,
            host::fold_sequence<Policy, Block>(exec, forest.tree(i), reducer.of_block(), n));
    }
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
    const auto keep = [&](std::int64_t i, const typename Reducer::accumulator& folded) {
      write(out, i, reducer.of_block(), init, folded);
    };
    if constexpr (!host::has_indices<typename Forest::source_type>) {
      if (forest.rows.rank == 1 && forest.size() > 1) {
        host::fold_column_sequences<Policy, Block>(exec, forest, reducer.of_block(), keep);
        return;
      }
    }
    for (std::int64_t i = 0; i < forest.size(); ++i) {
      keep(i, host::fold_sequence<Policy, Block>(exec, detail::column_of(forest, i),
                                                 reducer.of_block(), n));
    }
  }

 private:
  template <class Reducer, class Init>
  [[gnu::noinline]] static typename Reducer::result finished(
      const Reducer& reducer, const Init& init, const typename Reducer::accumulator& folded) {
    return detail::finish(closed_steps<Reducer>{reducer}, init, folded);
  }

  template <class Out, class Reducer, class Init>
  [[gnu::noinline]] static void write(const Out& out, std::int64_t i, const Reducer& reducer,
                                      const Init& init,
                                      const typename Reducer::accumulator& folded) {
    detail::write_through(
        detail::starting_at(out, i),
        detail::output_value<Out>(detail::finish(closed_steps<Reducer>{reducer}, init, folded)));
  }
};

}  // namespace tilefold::detail
