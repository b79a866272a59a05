// SPDX-License-Identifier: Apache-2.0
//
// The host executor. Compiles with a plain C++ compiler and no CUDA anywhere. Used header-only it
// runs on one thread; linked with the library tilefold::host (which defines TILEFOLD_HOST_LIBRARY)
// it runs on all cores through oneTBB. The bits are the same.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/folding.hpp>
#include <tilefold/detail/core/host_access.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/core/stand_in.hpp>
#include <tilefold/detail/core/starting_at.hpp>
#include <tilefold/detail/host/serial.hpp>
#include <tilefold/error.hpp>
#include <tilefold/policy.hpp>

#if defined(TILEFOLD_HOST_LIBRARY)
#include <tilefold/detail/host/threaded.hpp>
#endif

namespace tilefold {

namespace detail {

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

// Part of the executor's type, so that a program that mixes both kinds of translation unit has two
// sets of templates and not one with two meanings.
#if defined(TILEFOLD_HOST_LIBRARY)
using mode = threaded;
#else
using mode = serial;
#endif

}  // namespace host

}  // namespace detail

/// Executes reductions of host memory. Cheap to construct and copy; copies share their threads. One
/// executor may be used by several threads at once.
///
/// Mode is `detail::host::threaded` in a program that links tilefold::host, else
/// `detail::host::serial`, which runs everything on the calling thread and takes a number of
/// threads only so that the same code compiles.
template <class Mode>
class basic_host_executor {
 public:
  using executor_concept = executor_tag;

  /// All cores. (Within a oneTBB arena of the program's own: all of that arena's threads.)
  basic_host_executor() = default;

  /// At most `threads` threads, the caller's among them, and never more than oneTBB was allowed;
  /// throws invalid_range_error unless 1 <= threads <= 4096.
  explicit basic_host_executor(int threads) : mode_(threads) {}

  /// How many threads may take part; 1 if the library tilefold::host is not linked. Short ranges
  /// are folded on the calling thread.
  int threads() const { return mode_.threads(); }

  /// Whether it folds in such accumulators, to such results, with such functions and items: all.
  template <class Accumulator, class Result, class... Functions>
  static constexpr bool takes() {
    return true;
  }
  template <class... Functions>
  static constexpr bool takes_functions() {
    return true;
  }
  template <class... Items>
  static constexpr bool takes_items() {
    return true;
  }

  // What calls are given lies in memory that they may look at before they fold.
  static constexpr bool looks_ahead = true;

  /// The iterator as this executor reads it, if it `reads` at all; throws if it cannot.
  template <class It>
  It accessible(It first, const char* what, bool reads = true) const {
    if (reads) detail::require_host_access(first, what);
    return first;
  }

  /// The projected fold of elements [0, n) of `source`, n >= 1. Neither this nor what follows is
  /// inlined: the caller's function may be compiled for a target that can fuse, unlike this one
  /// (detail/core/closing.hpp).
  template <class Policy, class Source, detail::folding Reducer, class Init>
  [[gnu::noinline]] typename Reducer::result fold(const Source& source, const Reducer& reducer,
                                                  const Init& init, std::int64_t n) const {
    return detail::finish(detail::closed_steps<Reducer>{reducer}, init,
                          mode_.fold(source, reducer, n));
  }

  /// The same, written through `out` before the call returns.
  template <class Policy, class Source, detail::folding Reducer, class Init, class Out>
  void fold_into(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                 Out out) const {
    store(fold<Policy>(source, reducer, init, n), out);
  }

  /// Calls keep(accumulator, number of items) for the aligned blocks that items [0, n) of `source`
  /// are in a sequence where they stand at `position`, in their order (block_list.hpp); n >= 1.
  template <class Policy, class Source, detail::folding Reducer, class Keep>
  [[gnu::noinline]] void fold_blocks(const Source& source, const Reducer& reducer,
                                     std::int64_t position, std::int64_t n,
                                     const Keep& keep) const {
    const detail::blocks_of<Reducer> blocks{{position, position + n}};
    std::int64_t first = position;
    for (int i = 0, count = blocks.count(); i < count; ++i) {
      const std::int64_t end = blocks.first(i + 1);
      keep(mode_.fold_one_of_many(detail::starting_at(source, first - position), reducer,
                                  end - first),
           end - first);
      first = end;
    }
  }

  /// Writes the projected fold of every tree i of `forest` through out[i]; `empty` (an
  /// accumulator, or a given_result) stands for trees without elements. Done when the call returns.
  template <class Policy, class Forest, detail::folding Reducer, class Init, class Empty, class Out>
  [[gnu::noinline]] void fold_forest(const Forest& forest, std::int64_t, const Reducer& reducer,
                                     const Init& init, const Empty& empty, const Out& out) const {
    fold_trees(forest, reducer, init, empty, out,
               [](const auto& mode, const auto&... arguments) { mode.fold_forest(arguments...); });
  }

  /// The same for columns (strided.hpp), each of at least one row.
  template <class Policy, class Forest, detail::folding Reducer, class Init, class Empty, class Out>
  [[gnu::noinline]] void fold_columns(const Forest& forest, const Reducer& reducer,
                                      const Init& init, const Empty& empty, const Out& out) const {
    fold_trees(forest, reducer, init, empty, out, [](const auto& mode, const auto&... arguments) {
      detail::host::fold_columns(mode, arguments...);
    });
  }

  /// Writes the first key of every run of `items`, which are not none, through keys_out and the
  /// projected fold of its elements through values_out; returns the number of runs.
  template <class Policy, class Items, detail::folding Reducer, class Init, class KeysOut,
            class ValuesOut>
  [[gnu::noinline]] std::int64_t fold_by_key(const Items& items, const Reducer& reducer,
                                             const Init& init, const KeysOut& keys_out,
                                             const ValuesOut& values_out) const {
    detail::require_host_access(keys_out, "keys_out");
    detail::require_host_access(values_out, "values_out");
    const auto keep_key = [&](std::int64_t run, std::int64_t j) {
      detail::write_through(detail::starting_at(keys_out, run),
                            detail::output_key<KeysOut>(items.key(j)));
    };
    const auto keep = [reducer, init, values_out](std::int64_t run,
                                                  const typename Reducer::accumulator& folded) {
      detail::write_through(detail::starting_at(values_out, run),
                            detail::output_value<ValuesOut>(detail::finish(
                                detail::closed_steps<Reducer>{reducer}, init, folded)));
    };
    if constexpr (detail::host::writes_apart<KeysOut> && detail::host::writes_apart<ValuesOut>) {
      return mode_.fold_runs(items, reducer, keep_key, keep);
    } else {
      return detail::host::serial().fold_runs(items, reducer, keep_key, keep);
    }
  }

  /// The same; the number of runs is written as well.
  template <class Policy, class Items, detail::folding Reducer, class Init, class KeysOut,
            class ValuesOut, class CountOut>
  void fold_by_key_into(const Items& items, const Reducer& reducer, const Init& init,
                        const KeysOut& keys_out, const ValuesOut& values_out,
                        const CountOut& num_runs_out) const {
    detail::require_host_access(num_runs_out, "num_runs_out");
    store(fold_by_key<Policy>(items, reducer, init, keys_out, values_out), num_runs_out);
  }

  /// Nothing keeps this executor from finishing a call at once.
  void require_waiting() const {}

  /// Nothing keeps it from looking at offsets before it follows them.
  void require_checking() const {}

  /// Returns at once: this executor's work is done when a call returns.
  void synchronize() const {}

  /// Writes `value` through `out`.
  template <class T, class Out>
  void store(const T& value, Out out) const {
    detail::require_host_access(out, "out");
    detail::write_through(out, detail::output_value<Out>(value));
  }

 private:
  // Calls fold(mode, forest, reducer, what keeps a fold, what writes an empty tree's value).
  template <class Forest, class Reducer, class Init, class Empty, class Out, class Fold>
  void fold_trees(const Forest& forest, const Reducer& reducer, const Init& init,
                  const Empty& empty, const Out& out, const Fold& fold) const {
    detail::require_host_access(out, "out");
    detail::host::require_first_array(forest);
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
    if constexpr (detail::host::writes_apart<Out>) {
      fold(mode_, forest, reducer, keep, none);
    } else {
      fold(detail::host::serial(), forest, reducer, keep, none);
    }
  }

  Mode mode_;
};

using host_executor = basic_host_executor<detail::host::mode>;

namespace detail {

/// The executor that a policy for the host stands for.
template <class Handle, class Mode>
basic_host_executor<Mode> host_executor_for() {
  if constexpr (detail::host_policy_of<Handle>() == host_policy::one_thread) {
    return basic_host_executor<Mode>(1);
  } else {
    return basic_host_executor<Mode>();
  }
}

}  // namespace detail

}  // namespace tilefold
