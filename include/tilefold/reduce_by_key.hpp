// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key: one value of each run of equal neighbouring keys. Backend-neutral; the executor
// finds the runs and folds them.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>

#include <tilefold/detail/keyed_items.hpp>
#include <tilefold/detail/verb.hpp>
#include <tilefold/dispatch.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/cuda/launch_by_key.cuh>
#endif

namespace tilefold {

namespace detail {

/// What decides whether two keys are equal unless the caller says it: their ==.
struct equal_keys {
  TILEFOLD_NO_EXEC_CHECK
  template <class Key>
  TILEFOLD_HD bool operator()(const Key& a, const Key& b) const {
    return static_cast<bool>(a == b);
  }
};

// The same of keys as X.
template <class X>
struct equal_as {
  TILEFOLD_HD bool operator()(const X& a, const X& b) const { return equal_keys{}(a, b); }
};

// std::equal_to is a constexpr host function, which a kernel cannot call.
template <class Equal>
const Equal& normalized_equality(const Equal& equal) {
  return equal;
}
template <class X>
equal_as<X> normalized_equality(const std::equal_to<X>&) {
  return {};
}
inline equal_keys normalized_equality(const std::equal_to<void>&) { return {}; }

template <class F, class Key>
inline constexpr bool is_key_equality = function_on<F, Key, Key>;

/// Calls use(equal, init, op) with what the last arguments of reduce_by_key mean.
template <class Key, class T, class Use>
auto with_key_arguments(const Use& use) {
  return use(equal_keys{}, no_init{}, plus{});
}
template <class Key, class T, class Use, class OpOrInit>
auto with_key_arguments(const Use& use, const OpOrInit& op_or_init) {
  return detail::with_init_and_op<T>(
      [&](const auto& init, const auto& op) { return use(equal_keys{}, init, op); }, op_or_init);
}
template <class Key, class T, class Use, class EqualOrInit, class Op>
auto with_key_arguments(const Use& use, const EqualOrInit& equal_or_init, const Op& op) {
  constexpr bool init = reducer<Op> || converts_to<EqualOrInit, T> || converts_to<T, EqualOrInit>;
  if constexpr (is_key_equality<EqualOrInit, Key>) {
    return use(detail::normalized_equality(equal_or_init), no_init{}, op);
  } else if constexpr (!detail::is_const<EqualOrInit, Key, Key>()) {
    return no_result{};
  } else if constexpr (init) {
    return use(equal_keys{}, equal_or_init, op);
  } else {
    static_assert(init,
                  "tilefold: the argument before the operator of reduce_by_key must be an equality "
                  "that is callable with two keys, or an initial value that converts to or from "
                  "the values");
    return no_result{};
  }
}
template <class Key, class T, class Use, class Equal, class Init, class Op>
auto with_key_arguments(const Use& use, const Equal& equal, const Init& init, const Op& op) {
  if constexpr (is_key_equality<Equal, Key>) {
    return use(detail::normalized_equality(equal), init, op);
  } else {
    if constexpr (detail::is_const<Equal, Key, Key>()) {
      static_assert(is_key_equality<Equal, Key>,
                    "tilefold: of three arguments at the end of reduce_by_key the first is the "
                    "equality of keys, and must be callable with two of them");
    }
    return no_result{};
  }
}

// An executor's readable(), under the name that the verb has for the iterator.
template <class Executor>
struct reads_values {
  Executor& exec;

  template <class It>
  auto readable(const It& it, const char*) const {
    return exec.readable(it, "values");
  }
};

/// Whether runs of such keys can be folded and written; says in one sentence why not.
template <class Named, class Executor, class Keys, class Values, class KeysOut, class ValuesOut,
          class Equal, class Init, class Op>
constexpr bool folds_keyed() {
  if constexpr (!detail::folds_forest<Named, Executor, Op, ValuesOut, Init, Values>()) {
    return false;
  } else if constexpr (!executor_base_t<Executor>::template takes_functions<Equal>()) {
    return false;
  } else {
    return detail::takes_result<KeysOut, std::iter_value_t<Keys>>();
  }
}

/// Calls use(base of the executor, its policy, items, bound reducer, initial accumulator).
template <class Named, class Executor, class Keys, class Values, class Equal, class Init, class Op,
          class Use>
auto with_keyed_items(Executor&& exec, std::int64_t n, const Keys& keys, const Values& values,
                      const Equal& equal, const Init& init, const Op& op, const Use& use) {
  using types = fold_types<Named, Op, as_is, Init, Values>;
  using parts = executor_parts<std::remove_cvref_t<Executor>>;
  auto&& base = parts::base(exec);
  const auto start = detail::convert_init<typename types::accumulator>(init);
  const reads_values<std::remove_reference_t<decltype(base)>> reader{base};
  const auto elements =
      detail::readable_source<types::indexed>(reader, std::index_sequence_for<Values>(), values);
  const auto raw_keys = base.readable(keys, "keys_first");
  using items = keyed_items<std::remove_const_t<decltype(raw_keys)>, Equal,
                            std::remove_const_t<decltype(elements)>>;
  return use(base, typename parts::policy{}, items{raw_keys, equal, elements, n},
             types::bind(op, as_is{}), start);
}

}  // namespace detail

/// Folds every run of equal neighbouring keys with an associative operator or a reducer: writes the
/// run's first key through keys_out[r] and the value of its items through values_out[r], and the
/// number of runs through num_runs_out.
///
///     reduce_by_key_into(exec, keys_first, keys_last, values, keys_out, values_out,
///                        num_runs_out, ...)
///
/// At the end stands one of
///
///     (nothing)               a sum
///     op                      an operator or reducer
///     init                    a sum that starts from init
///     init, op
///     equal, op               keys are equal if equal(key, next key) says so
///     equal, init, op
///
/// so a single callable is the operator, as in reduce(), and an equality stands before an operator
/// (which may be plus{}).
///
/// - Runs: a run begins with the first key, and with each key j for which equal(key j - 1, key j)
///   is false. Only neighbours are compared, in that order, so the equality need neither be ==, nor
///   symmetric, nor transitive. Keys that are equal but stand apart are different runs; sort them
///   first if they are to be one. It is called any number of times and must not depend on that. By
///   default it is ==, so a NaN is a run of its own.
/// - Result: values_out[r] has the bits of reduce() over the values of run r with the same
///   arguments, whatever its neighbours and its place. Indices that a reducer yields count from the
///   start of the run. The initial value takes part once in every run. keys_out[r] is a copy of the
///   key.
/// - Parameters: random-access iterators in memory that the executor reads; `values` leads to as
///   many items as there are keys. keys_out and values_out take as many as there are runs, at most
///   one for each key; num_runs_out takes one std::int64_t (and converts it). What is written must
///   not overlap with what is read.
/// - An empty range has no runs: 0 is written through num_runs_out and nothing else.
/// - On a CUDA executor the call is asynchronous in its stream, num_runs_out is GPU memory, and
///   everything must live until the stream has passed it. At most 2^35 keys. It takes one launch up
///   to 3056 keys, three up to a million, and otherwise five; the last one or three fold runs of
///   more than 1024 items.
///   Values are read once (some twice where short and longer runs stand side by side), keys once
///   and where runs begin a second time. Workspace:
///   cuda_executor::by_key_workspace_bytes(), about n / 6 bytes: a bit for each key, and
///   n / 40 bytes for long runs.
/// - On the host: n / 8 bytes of memory, if several threads work.
/// - Work: a comparison for each pair of neighbours, and as many combines as reduce() would need
///   for each run.
/// - Throws as reduce() does: null_pointer_error, invalid_range_error, memory_space_error...
template <class Acc = void, executor Exec, detail::item_iterator Keys, detail::item_iterator Values,
          detail::output KeysOut, detail::output ValuesOut, detail::output CountOut, class... Rest>
  requires(sizeof...(Rest) <= 3)
void reduce_by_key_into(Exec&& exec, Keys keys_first, Keys keys_last, Values values,
                        KeysOut keys_out, ValuesOut values_out, CountOut num_runs_out,
                        Rest... rest) {
  const std::int64_t n = detail::count_items("reduce_by_key_into", keys_first, keys_last);
  detail::with_key_arguments<std::iter_value_t<Keys>, std::iter_value_t<Values>>(
      [&](const auto& equal, const auto& init, const auto& op) {
        using op_type = std::remove_cvref_t<decltype(op)>;
        using init_type = std::remove_cvref_t<decltype(init)>;
        using equal_type = std::remove_cvref_t<decltype(equal)>;
        if constexpr (detail::folds_keyed<Acc, Exec, Keys, Values, KeysOut, ValuesOut, equal_type,
                                          init_type, op_type>()) {
          if (n == 0) {
            detail::executor_parts<std::remove_cvref_t<Exec>>::base(exec).store(std::int64_t{0},
                                                                                num_runs_out);
            return;
          }
          detail::with_keyed_items<Acc>(exec, n, keys_first, values, equal, init, op,
                                        [&](auto& base, auto policy, const auto& items,
                                            const auto& bound, const auto& start) {
                                          base.template fold_by_key_into<decltype(policy)>(
                                              items, bound, start, keys_out, values_out,
                                              num_runs_out);
                                        });
        }
      },
      rest...);
}

/// The same, done when the call returns; returns the number of runs. The executor may be left out:
/// the memory of keys, values and outputs then decides, as in reduce(), and must be where one
/// executor reaches all of it.
///
///     reduce_by_key([exec,] keys_first, keys_last, values, keys_out, values_out, ...)
template <class Acc = void, executor Exec, detail::item_iterator Keys, detail::item_iterator Values,
          detail::output KeysOut, detail::output ValuesOut, class... Rest>
  requires(sizeof...(Rest) <= 3)
std::int64_t reduce_by_key(Exec&& exec, Keys keys_first, Keys keys_last, Values values,
                           KeysOut keys_out, ValuesOut values_out, Rest... rest) {
  const std::int64_t n = detail::count_items("reduce_by_key", keys_first, keys_last);
  return detail::with_key_arguments<std::iter_value_t<Keys>, std::iter_value_t<Values>>(
      [&](const auto& equal, const auto& init, const auto& op) -> std::int64_t {
        using op_type = std::remove_cvref_t<decltype(op)>;
        using init_type = std::remove_cvref_t<decltype(init)>;
        using equal_type = std::remove_cvref_t<decltype(equal)>;
        if constexpr (detail::folds_keyed<Acc, Exec, Keys, Values, KeysOut, ValuesOut, equal_type,
                                          init_type, op_type>()) {
          detail::executor_parts<std::remove_cvref_t<Exec>>::base(exec).require_waiting(
              "reduce_by_key");
          if (n == 0) return 0;
          return detail::with_keyed_items<Acc>(exec, n, keys_first, values, equal, init, op,
                                               [&](auto& base, auto policy, const auto& items,
                                                   const auto& bound, const auto& start) {
                                                 return base.template fold_by_key<decltype(policy)>(
                                                     items, bound, start, keys_out, values_out);
                                               });
        } else {
          return 0;
        }
      },
      rest...);
}

template <class Acc = void, class Dispatch = detail::default_dispatch, detail::item_iterator Keys,
          detail::item_iterator Values, detail::output KeysOut, detail::output ValuesOut,
          class... Rest>
  requires(sizeof...(Rest) <= 3)
std::int64_t reduce_by_key(Keys keys_first, Keys keys_last, Values values, KeysOut keys_out,
                           ValuesOut values_out, Rest... rest) {
  return Dispatch::template with_executor<Rest...>(
      keys_first,
      [&](auto&& exec) {
        return tilefold::reduce_by_key<Acc>(exec, keys_first, keys_last, values, keys_out,
                                            values_out, rest...);
      },
      values, keys_out, values_out);
}

}  // namespace tilefold
