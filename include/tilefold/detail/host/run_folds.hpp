// SPDX-License-Identifier: Apache-2.0
//
// How a host executor folds runs of equal keys (key_folds has a GPU's).
#pragma once

#include <tilefold/detail/host/many_folds.hpp>

TILEFOLD_WARNINGS_OFF

#include <cstdint>

#include <tilefold/detail/core/keyed_items.hpp>

namespace tilefold::detail::host {

/// Calls keep_key(r, j) with the first item j of every run r, and keep(r, fold of the run). Returns
/// the number of runs.
template <class Mode, class Items, class Reducer, class KeepKey, class Keep>
std::int64_t fold_runs(const Mode& mode, const Items& items, const Reducer& reducer,
                       const KeepKey& keep_key, const Keep& keep) {
  return mode.fold_runs(items, reducer, keep_key, keep);
}
template <class Items, class Reducer, class KeepKey, class Keep>
std::int64_t fold_runs(const serial&, const Items& items, const Reducer& reducer,
                       const KeepKey& keep_key, const Keep& keep) {
  return detail::visit_runs(items, [&](std::int64_t run, std::int64_t begin, std::int64_t end) {
    keep_key(run, begin);
    keep(run, host::fold(items.run(begin), reducer, 0, end - begin));
  });
}

/// Folds of a host executor that runs by `Mode`.
template <class Mode>
struct run_folds {
  /// Writes the first key of every run of `items`, which are not none, through keys_out and the
  /// projected fold of its elements through values_out; returns the number of runs.
  template <class Items, folding Reducer, class Init, class KeysOut, class ValuesOut>
  [[gnu::noinline]] static std::int64_t runs(const Mode& mode, const Items& items,
                                             const Reducer& reducer, const Init& init,
                                             const KeysOut& keys_out, const ValuesOut& values_out) {
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
    if constexpr (host::writes_apart<KeysOut> && host::writes_apart<ValuesOut>) {
      return host::fold_runs(mode, items, reducer, keep_key, keep);
    } else {
      return host::fold_runs(serial(), items, reducer, keep_key, keep);
    }
  }

  /// The same; the number of runs is written as well.
  template <class Items, folding Reducer, class Init, class KeysOut, class ValuesOut,
            class CountOut>
  static void counted_runs(const Mode& mode, const Items& items, const Reducer& reducer,
                           const Init& init, const KeysOut& keys_out, const ValuesOut& values_out,
                           const CountOut& num_runs_out) {
    detail::require_host_access(num_runs_out, "num_runs_out");
    detail::write_through(num_runs_out, detail::output_value<CountOut>(runs(
                                            mode, items, reducer, init, keys_out, values_out)));
  }
};

}  // namespace tilefold::detail::host

TILEFOLD_WARNINGS_BACK
