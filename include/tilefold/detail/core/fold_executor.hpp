// SPDX-License-Identifier: Apache-2.0
//
// What a verb asks of an executor. For tests and for those who write executors: an executor's own
// header does not include what its callers bring (forests, keys).
#pragma once

#include <concepts>
#include <cstdint>

#include <tilefold/detail/core/folding.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/keyed_items.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/op.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail {

/// What verbs ask of an executor, shown for sums of floats. fold_forest and fold_columns write the
/// results of many trees, fold_by_key of runs; `_into` writes what the other returns, in the
/// executor's order of work.
template <class E, class Reducer = op_reducer<float, plus>, class Items = source<const float*>,
          class Policy = default_policy>
concept fold_executor =
    executor<E> &&
    requires(E& exec, const E& view, const Reducer& reducer, const Items& items,
             const equal_forest<Items>& trees, const keyed_items<const int*, plus, Items>& runs,
             std::int64_t n, float* out, int* keys_out, std::int64_t* num_runs_out) {
      // Whether it folds such types, and reads and writes through such iterators.
      { E::template takes<float, float, plus>() } -> std::same_as<bool>;
      { E::template takes_functions<plus>() } -> std::same_as<bool>;
      { E::template takes_items<float>() } -> std::same_as<bool>;
      view.accessible(out, "out", true);
      { exec.template fold<Policy>(items, reducer, no_init{}, n) } -> std::same_as<float>;
      exec.template fold_into<Policy>(items, reducer, no_init{}, n, out);
      exec.template fold_forest<Policy>(trees, n, reducer, no_init{}, 0.0f, out);
      exec.template fold_columns<Policy>(trees, reducer, no_init{}, 0.0f, out);
      {
        exec.template fold_by_key<Policy>(runs, reducer, no_init{}, keys_out, out)
      } -> std::same_as<std::int64_t>;
      exec.template fold_by_key_into<Policy>(runs, reducer, no_init{}, keys_out, out, num_runs_out);
      exec.store(0.0f, out);
      // Calls that are done when they return. Before they begin, whether they can be.
      view.require_waiting();
      view.require_checking();
      view.synchronize();
    };

}  // namespace tilefold::detail
