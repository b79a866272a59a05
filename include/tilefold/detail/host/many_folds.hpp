// SPDX-License-Identifier: Apache-2.0
//
// How the host executor folds more than one range: blocks of a piece, forests, columns, runs of
// equal keys. Nothing here is inlined: the caller's function may be compiled for a target that can
// fuse, unlike this one (detail/core/closing.hpp).
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/closing.hpp>
#include <tilefold/detail/core/folding.hpp>
#include <tilefold/detail/core/host_access.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/host/serial.hpp>

namespace tilefold::detail {

template <bool Indexed, class Arrays, class Lengths>
struct array_forest;

namespace host {

// In columns.hpp, which the verb that needs it includes.
template <class Mode, class Forest, class Reducer, class Keep, class Empty>
void fold_columns(const Mode& mode, const Forest& forest, const Reducer& reducer, const Keep& keep,
                  const Empty& none);

// Looks at the first array that has items: one that lies in another memory is seldom alone, and
// looking at all would cost as much as folding short ones.
template <class Forest>
void require_first_array(const Forest&) {}
template <bool Indexed, class Arrays, class Lengths>
void require_first_array(const array_forest<Indexed, Arrays, Lengths>& forest) {
  for (std::int64_t i = 0; i < forest.size(); ++i) {
    if (forest.count(i) <= 0) continue;
    detail::require_host_access(detail::element(forest.arrays, i), "the first array with items");
    return;
  }
}

// Whether threads may write different values through `Out` at once; neighbours behind proxies
// (vector<bool>'s) may share a word.
template <class Out>
inline constexpr bool writes_apart = std::is_lvalue_reference_v<decltype(*std::declval<Out&>())>;

/// How a host executor that runs by `Mode` folds more than one range.
template <class Mode>
struct many_folds {
  /// Calls keep(accumulator, number of items) for the aligned blocks that items [0, n) of `source`
  /// are in a sequence where they stand at `position`, in their order (block_list.hpp); n >= 1.
  template <class Source, folding Reducer, class Keep>
  [[gnu::noinline]] static void blocks(const Mode& mode, const Source& source,
                                       const Reducer& reducer, std::int64_t position,
                                       std::int64_t n, const Keep& keep) {
    const blocks_of<Reducer> all{{position, position + n}};
    std::int64_t first = position;
    for (int i = 0, count = all.count(); i < count; ++i) {
      const std::int64_t end = all.first(i + 1);
      keep(mode.fold_one_of_many(detail::starting_at(source, first - position), reducer,
                                 end - first),
           end - first);
      first = end;
    }
  }

  /// Writes the projected fold of every tree i of `forest` through out[i]; `empty` (an
  /// accumulator, or a given_result) stands for trees without elements. Done when the call returns.
  template <class Forest, folding Reducer, class Init, class Empty, class Out>
  [[gnu::noinline]] static void forest(const Mode& mode, const Forest& forest, std::int64_t,
                                       const Reducer& reducer, const Init& init, const Empty& empty,
                                       const Out& out) {
    fold_trees(mode, forest, reducer, init, empty, out,
               [](const auto& by, const auto&... arguments) { by.fold_forest(arguments...); });
  }

  /// The same for columns (strided.hpp), each of at least one row.
  template <class Forest, folding Reducer, class Init, class Empty, class Out>
  [[gnu::noinline]] static void columns(const Mode& mode, const Forest& forest,
                                        const Reducer& reducer, const Init& init,
                                        const Empty& empty, const Out& out) {
    fold_trees(
        mode, forest, reducer, init, empty, out,
        [](const auto& by, const auto&... arguments) { host::fold_columns(by, arguments...); });
  }

 private:
  // Calls fold(mode, forest, reducer, what keeps a fold, what writes an empty tree's value).
  template <class Forest, class Reducer, class Init, class Empty, class Out, class Fold>
  static void fold_trees(const Mode& mode, const Forest& forest, const Reducer& reducer,
                         const Init& init, const Empty& empty, const Out& out, const Fold& fold) {
    detail::require_host_access(out, "out");
    host::require_first_array(forest);
    // By value: these run for every tree.
    const auto write = [out](std::int64_t i, const auto& value) {
      detail::write_through(detail::starting_at(out, i), detail::output_value<Out>(value));
    };
    using accumulator = typename Reducer::accumulator;
    const auto keep = [write, reducer, init](std::int64_t i, const accumulator& folded) {
      write(i, detail::finish(detail::closed_steps<Reducer>{reducer}, init, folded));
    };
    const auto none = [&](std::int64_t i) {
      write(i, detail::result_of_nothing(detail::closed_steps<Reducer>{reducer}, empty));
    };
    if constexpr (host::writes_apart<Out>) {
      fold(mode, forest, reducer, keep, none);
    } else {
      fold(host::serial(), forest, reducer, keep, none);
    }
  }
};

}  // namespace host

}  // namespace tilefold::detail
