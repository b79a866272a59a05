// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key: one value of each run of equal neighbouring keys. Backend-neutral; the executor
// finds the runs and folds them.
#pragma once

#include <tilefold/detail/host/many_folds.hpp>

TILEFOLD_WARNINGS_OFF

#include <cstdint>
#include <iterator>

#include <tilefold/detail/core/keyed_items.hpp>
#include <tilefold/detail/verbs/forest_verb.hpp>
#include <tilefold/detail/verbs/kept_order.hpp>
#include <tilefold/dispatch.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/cuda/keys/launch_keys.cuh>
#endif

namespace tilefold {

// How a host executor folds runs; a GPU: key_folds (launch_keys.cuh).
namespace detail::host {

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

}  // namespace detail::host

namespace detail {

/// What decides whether two keys are equal unless the caller says it: their ==.
struct equal_keys {
  TILEFOLD_NO_EXEC_CHECK
  template <class Key>
  TILEFOLD_HD bool operator()(const Key& a, const Key& b) const
      noexcept(noexcept(static_cast<bool>(a == b))) {
    return static_cast<bool>(a == b);
  }
};

// The same of keys as X.
template <class X>
struct equal_as {
  TILEFOLD_HD bool operator()(const X& a, const X& b) const noexcept(noexcept(equal_keys{}(a, b))) {
    return equal_keys{}(a, b);
  }
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

/// What the last arguments of reduce_by_key say.
template <class Equal, class Arguments>
struct key_arguments {
  Equal equal;
  Arguments fold;
};
template <class Equal, class Arguments>
key_arguments(Equal, Arguments) -> key_arguments<Equal, Arguments>;

/// Equalities that thrust takes also where no operator follows. (A function of the caller's that
/// says yes or no may be an operator.)
template <class F>
inline constexpr bool is_equality = std::same_as<F, equal_keys>;
template <class X>
inline constexpr bool is_equality<std::equal_to<X>> = true;

/// What they mean for such keys and values of type T. Nothing can be made of no_result.
template <class Key, class T>
auto read_key_arguments() {
  return key_arguments{equal_keys{}, detail::read_arguments<T>()};
}
template <class Key, class T, class OpOrInit>
auto read_key_arguments(const OpOrInit& op_or_init) {
  constexpr bool equality = is_equality<OpOrInit>;
  static_assert(
      !equality,
      "tilefold: a single function at the end of reduce_by_key is the operator; the equality of "
      "keys stands before an operator, as in (..., equal, tilefold::plus{})");
  if constexpr (equality) {
    return key_arguments{equal_keys{}, no_result{}};
  } else {
    return key_arguments{equal_keys{}, detail::read_arguments<T>(op_or_init)};
  }
}
template <class Key, class T, class EqualOrInit, class Op>
auto read_key_arguments(const EqualOrInit& equal_or_init, const Op& op) {
  constexpr bool init = reducer<Op> || converts_to<EqualOrInit, T> || converts_to<T, EqualOrInit> ||
                        meets_in_common_type<Op, T, EqualOrInit>;
  if constexpr (is_key_equality<EqualOrInit, Key>) {
    return key_arguments{detail::normalized_equality(equal_or_init), init_and_op{no_init{}, op}};
  } else if constexpr (!detail::is_const<EqualOrInit, Key, Key>()) {
    return key_arguments{equal_keys{}, no_result{}};
  } else if constexpr (init) {
    return key_arguments{equal_keys{}, init_and_op{equal_or_init, op}};
  } else {
    static_assert(init,
                  "tilefold: the argument before the operator of reduce_by_key must be an equality "
                  "that is callable with two keys, or an initial value that converts to or from "
                  "the values");
    return key_arguments{equal_keys{}, no_result{}};
  }
}
template <class Key, class T, class Equal, class Init, class Op>
auto read_key_arguments(const Equal& equal, const Init& init, const Op& op) {
  if constexpr (is_key_equality<Equal, Key>) {
    return key_arguments{detail::normalized_equality(equal), init_and_op{init, op}};
  } else {
    if constexpr (detail::is_const<Equal, Key, Key>()) {
      static_assert(is_key_equality<Equal, Key>,
                    "tilefold: of three arguments at the end of reduce_by_key the first is the "
                    "equality of keys, and must be callable with two of them");
    }
    return key_arguments{equal_keys{}, no_result{}};
  }
}

/// Whether runs of such keys can be folded and written; says in one sentence why not.
template <class Named, class Executor, class Keys, class Values, class KeysOut, class ValuesOut,
          class Equal, class Arguments>
constexpr bool folds_keys(const key_arguments<Equal, Arguments>*) {
  constexpr bool changes = std::is_volatile_v<std::remove_reference_t<std::iter_reference_t<Keys>>>;
  static_assert(!changes, "tilefold: keys must not be volatile");
  if constexpr (changes) {
    return false;
  } else if constexpr (!detail::folds_forest<Named, Executor, ValuesOut, Arguments, Values>()) {
    return false;
  } else if constexpr (!detail::keeps_tree_order<typename Arguments::op_type>()) {
    return false;
  } else if constexpr (!executor_base_t<Executor>::template takes_functions<Equal>()) {
    return false;
  } else if constexpr (!detail::folds_columns_and_keys<executor_base_t<Executor>>()) {
    return false;
  } else if constexpr (!detail::takes_results<KeysOut>()) {
    return false;
  } else {
    return detail::takes_result<KeysOut, std::iter_value_t<Keys>>();
  }
}

/// The items of a bound fold with their keys, as the executor reads them.
template <class Executor, class Bound, class Keys, class Values, class Equal>
auto read_keyed(Executor& base, const Bound& bound, std::int64_t n, const Keys& keys,
                const Values& values, const Equal& equal) {
  const auto elements = bound.source(unless_empty{base, true, "values"}, values);
  const auto raw_keys = detail::read_only(base.accessible(keys, "keys_first"));
  return keyed_items<std::remove_const_t<decltype(raw_keys)>, Equal,
                     std::remove_const_t<decltype(elements)>>{{raw_keys, equal, n}, elements};
}

/// The runs of ranks, each of which reads its own keys.
template <class Policy, class Ranks, class Bound, class Keys, class Values, class Equal,
          class KeysOut, class ValuesOut>
std::int64_t fold_keys_on_ranks(const Ranks& ranks, const Bound& bound, std::int64_t n,
                                const Keys& keys, const Values& values, const Equal& equal,
                                const KeysOut& keys_out, const ValuesOut& values_out) {
  const auto read = [&](auto& base) {
    return detail::read_keyed(base, bound, n, keys, values, equal);
  };
  return ranks.template fold_keys<Policy, std::iter_value_t<Keys>, std::iter_value_t<Values>>(
      bound, n, read, equal, keys_out, values_out);
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
/// A single callable is the operator, as in reduce(). An equality comes before an operator, which
/// may be plus{}.
///
/// - Runs: a run begins with the first key, and with each key j for which equal(key j - 1, key j)
///   is false. Only neighbours are compared, in that order, so the equality need not be symmetric
///   or transitive. Equal keys that are not neighbours belong to different runs; sort the keys
///   first to get one run for each. The equality is called any number of times and must not depend
///   on that. By default it is ==, so a NaN is a run of its own.
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
  const std::int64_t n = detail::count_items<Exec>("reduce_by_key_into", keys_first, keys_last);
  const auto last =
      detail::read_key_arguments<std::iter_value_t<Keys>, std::iter_value_t<Values>>(rest...);
  constexpr const decltype(last)* types = nullptr;
  if constexpr (detail::folds_keys<Acc, Exec, Keys, Values, KeysOut, ValuesOut>(types)) {
    using parts = detail::executor_parts<std::remove_cvref_t<Exec>>;
    auto&& base = parts::base(exec);
    detail::host::in_default_float_mode([&] {
      const auto bound = detail::bind<Acc, Values>(last.fold, detail::as_is{});
      if constexpr (detail::spans_ranks<decltype(base)>) {
        base.store(detail::fold_keys_on_ranks<typename parts::policy>(
                       base, bound, n, keys_first, values, last.equal, keys_out, values_out),
                   num_runs_out);
      } else {
        if (n == 0) {
          base.store(std::int64_t{0}, num_runs_out);
          return;
        }
        base.template fold_by_key_into<typename parts::policy>(
            detail::read_keyed(base, bound, n, keys_first, values, last.equal), bound.reducer,
            bound.start, keys_out, values_out, num_runs_out);
      }
    });
  }
}

/// Does the same synchronously, and returns the number of runs as std::int64_t, where Thrust
/// returns a pair of iterators: `.first` is keys_out + runs, `.second` values_out + runs
/// (thrust_compat.hpp has a function that returns them). The executor may be left out: then the
/// memory of keys, values and outputs decides, as in reduce(); one executor must be able to access
/// all of it.
///
///     reduce_by_key([exec,] keys_first, keys_last, values, keys_out, values_out, ...)
template <class Acc = void, executor Exec, detail::item_iterator Keys, detail::item_iterator Values,
          detail::output KeysOut, detail::output ValuesOut, class... Rest>
  requires(sizeof...(Rest) <= 3)
std::int64_t reduce_by_key(Exec&& exec, Keys keys_first, Keys keys_last, Values values,
                           KeysOut keys_out, ValuesOut values_out, Rest... rest) {
  const std::int64_t n = detail::count_items<Exec>("reduce_by_key", keys_first, keys_last);
  const auto last =
      detail::read_key_arguments<std::iter_value_t<Keys>, std::iter_value_t<Values>>(rest...);
  constexpr const decltype(last)* types = nullptr;
  if constexpr (detail::folds_keys<Acc, Exec, Keys, Values, KeysOut, ValuesOut>(types)) {
    using parts = detail::executor_parts<std::remove_cvref_t<Exec>>;
    auto&& base = parts::base(exec);
    base.require_waiting();
    return detail::host::in_default_float_mode([&]() -> std::int64_t {
      const auto bound = detail::bind<Acc, Values>(last.fold, detail::as_is{});
      if constexpr (detail::spans_ranks<decltype(base)>) {
        return detail::fold_keys_on_ranks<typename parts::policy>(
            base, bound, n, keys_first, values, last.equal, keys_out, values_out);
      } else {
        if (n == 0) return 0;
        return base.template fold_by_key<typename parts::policy>(
            detail::read_keyed(base, bound, n, keys_first, values, last.equal), bound.reducer,
            bound.start, keys_out, values_out);
      }
    });
  } else {
    return 0;
  }
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

template <class Acc = void, class Dispatch = detail::default_dispatch, class... Arguments>
  requires detail::refused_items<Arguments...> || detail::not_indexed_at<2, Arguments...>
std::int64_t reduce_by_key(const Arguments&...) {
  return detail::refuse_sequences<Arguments...>();
}

TILEFOLD_TAKES_STAND_INS(reduce_by_key)
TILEFOLD_TAKES_STAND_INS(reduce_by_key_into)

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
