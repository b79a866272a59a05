// SPDX-License-Identifier: Apache-2.0
//
// The host executor. Compiles with a plain C++ compiler and no CUDA anywhere. Used header-only it
// runs on one thread; linked with the library tilefold::host (which defines TILEFOLD_HOST_LIBRARY)
// it runs on all cores through oneTBB. The bits are the same.
#pragma once

#include <cstdint>

#include <tilefold/detail/core/folding.hpp>
#include <tilefold/detail/core/host_access.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/core/stand_in.hpp>
#include <tilefold/detail/host/serial.hpp>
#include <tilefold/error.hpp>
#include <tilefold/policy.hpp>

#if defined(TILEFOLD_HOST_LIBRARY)
#include <tilefold/detail/host/threaded.hpp>
#endif

namespace tilefold {

namespace detail {

namespace host {

// In many_folds.hpp, which the verbs that need it include, and reduce_by_key.hpp. Left undefined
// here, so that a missing include is a compile error.
template <class Mode>
struct many_folds;
template <class Mode>
struct run_folds;

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

  // The primitives for more than one range, as many_folds and run_folds describe them.
  template <class Policy, class... Arguments>
  void fold_blocks(const Arguments&... arguments) const {
    detail::host::many_folds<Mode>::blocks(mode_, arguments...);
  }
  template <class Policy, class... Arguments>
  void fold_forest(const Arguments&... arguments) const {
    detail::host::many_folds<Mode>::forest(mode_, arguments...);
  }
  template <class Policy, class... Arguments>
  void fold_columns(const Arguments&... arguments) const {
    detail::host::many_folds<Mode>::columns(mode_, arguments...);
  }
  template <class Policy, class... Arguments>
  std::int64_t fold_by_key(const Arguments&... arguments) const {
    return detail::host::run_folds<Mode>::runs(mode_, arguments...);
  }
  template <class Policy, class... Arguments>
  void fold_by_key_into(const Arguments&... arguments) const {
    detail::host::run_folds<Mode>::counted_runs(mode_, arguments...);
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
