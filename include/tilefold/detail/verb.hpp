// SPDX-License-Identifier: Apache-2.0
//
// What every verb does around the primitives: reads its arguments (operator, initial value or
// neither; range or pair of iterators), counts the items, settles the empty range, and hands a
// source and a reducer to the executor.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/forest.hpp>
#include <tilefold/error.hpp>
#include <tilefold/policy.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold::detail {

// Looser than std::random_access_iterator, which some device iterators do not model.
template <class It>
concept item_iterator = !executor<It> && requires(const It& it, std::int64_t i) {
  typename std::iter_value_t<It>;
  { it - it } -> std::convertible_to<std::int64_t>;
  it[static_cast<std::iter_difference_t<It>>(i)];
};

template <class R>
concept item_range = !executor<R> && requires(R & range) {
  { std::begin(range) } -> item_iterator;
  { std::end(range) } -> std::same_as<decltype(std::begin(range))>;
};

// What a result is written through: a pointer or an output iterator. Neither a number is one nor a
// lambda (which * makes a function of), so that for an array reduce_into(exec, array, &out, 10) is
// not read as (exec, first, last, out).
template <class Out>
concept output = requires(Out& out) {
  *out;
  requires !std::is_function_v<std::remove_reference_t<decltype(*out)>>;
};

template <item_range R>
using range_iterator_t = decltype(std::begin(std::declval<R&>()));

template <class X, class T>
concept operator_for =
    binary_op_on<normalized_op_t<X>, counted_value_t<X, typename normalized_op<X>::argument, T>>;

// Whether the third argument of reduce() is an operator; says so in one sentence if it is nothing.
template <class X, class T>
constexpr bool is_operator() {
  constexpr bool op = operator_for<X, T>;
  // The narrow floats convert explicitly only, but 0 and 1.5 are initial values for them all the
  // same.
  constexpr bool narrow = is_narrow_float<X> || is_narrow_float<T>;
  constexpr bool init = std::convertible_to<X, T> || std::convertible_to<T, X> ||
                        (narrow && (converts_to<X, T> || converts_to<T, X>));
  static_assert(op || init,
                "tilefold: the argument after the range must be an operator callable with two "
                "values of the range, or an initial value that converts to or from them");
  return op;
}

template <class It>
std::int64_t count_items(const char* verb, const It& first, const It& last) {
  const auto n = static_cast<std::int64_t>(last - first);
  if (n < 0) {
    throw invalid_range_error("tilefold::" + std::string(verb) + ": last lies " +
                              std::to_string(-n) + " items before first");
  }
  return n;
}

template <class Op>
std::string operator_name() {
  const std::string name = __PRETTY_FUNCTION__;
  const auto begin = name.find("Op = ");
  if (begin == std::string::npos) return "the operator";
  const auto end = name.find_first_of(";]", begin);
  return name.substr(begin + 5, end - begin - 5);
}

/// The value of an empty range, not projected: the initial value, else the operator's identity.
template <class Acc, class Op, class Init>
Acc empty_fold(const char* verb, const Init& init) {
  if constexpr (!std::same_as<Init, no_init>) {
    return init;
  } else if constexpr (has_identity<Op, Acc>) {
    return op_traits<Op, Acc>::identity();
  } else {
    throw empty_range_error("tilefold::" + std::string(verb) +
                            ": the range is empty, there is no initial value, and no identity is "
                            "known for " +
                            operator_name<Op>());
  }
}

// Whether an operator tells an accumulator for values of type T: ours have theirs by rule, any
// other is asked what it returns.
template <class Op, class T>
concept operator_on_values =
    normalized_op<Op>::known || operator_for<Op, T> || binary_op_on<Op, widened_t<T>>;

template <class F, class... Values>
concept value_function_on =
    function_on<F, Values...> && !std::is_void_v<call_result_t<F, Values...>>;

// Says in one sentence what cannot be called. Where it returns false nothing else of the fold is
// instantiated, for a page of errors would hide the sentence.
template <class Named, class Op, class Lift, class... Its>
constexpr bool foldable() {
  constexpr bool function = value_function_on<Lift, std::iter_value_t<Its>...>;
  static_assert(function,
                "tilefold: the function must be callable with an item of each range and return a "
                "value");
  if constexpr (function && std::is_void_v<Named>) {
    constexpr bool op = operator_on_values<Op, call_result_t<Lift, std::iter_value_t<Its>...>>;
    static_assert(op,
                  "tilefold: the operator must be callable with two values of the range; if it "
                  "takes accumulators only, name their type: reduce<Acc>(...)");
    return op;
  } else {
    return function;
  }
}

/// Everything a fold needs but the executor.
template <class Named, class Op, class Lift, class Init, class... Its>
struct fold_types {
  static_assert(result_known<Op> && result_known<Lift>,
                "tilefold: a __device__ lambda must name its result, [] __device__(...) -> T, for "
                "the host compiler cannot know it; or make it __host__ __device__");
  using value = call_result_t<Lift, std::iter_value_t<Its>...>;
  using accumulator = accumulator_t<Named, Op, value, Init>;
  using op = normalized_op_t<Op>;
  static_assert(binary_op_on<op, accumulator>,
                "tilefold: the operator cannot be called with two accumulators; name a fitting "
                "accumulator type: reduce<Acc>(...)");
  static_assert(converts_to<value, accumulator>,
                "tilefold: the values of the range do not convert to the accumulator type");
  using lift = std::conditional_t<std::same_as<Lift, as_is> && (computes_items<Its> || ...),
                                  as_computed, Lift>;
  using reducer = op_reducer<accumulator, op, lift>;
  using init = std::conditional_t<std::same_as<Init, no_init>, no_init, accumulator>;
};

template <class Wanted, class Lift>
Wanted make_lift(const Lift& lift) {
  if constexpr (std::same_as<Wanted, Lift>) {
    return lift;
  } else {
    return {};
  }
}

template <class Acc, class Init>
auto convert_init(const Init& init) {
  if constexpr (std::same_as<Init, no_init>) {
    return init;
  } else {
    // A value of its own: where it was computed inline, it must not be fused with the last combine.
    const Acc start = detail::convert<Acc>(init);
    if constexpr (floating_or_complex<Acc>) {
      return detail::own_value(start);
    } else {
      return start;
    }
  }
}

// What messages call iterator `index` of `count`, as the verbs' own parameters are called.
constexpr const char* name_of_iterator(std::size_t index, std::size_t count) {
  if (count == 1) return "first";
  return index == 0 ? "first1" : "first2";
}

/// The source of iterators `its` as the executor reads them; throws if it cannot.
template <class Executor, std::size_t... Index, class... Its>
auto readable_source(Executor& exec, std::index_sequence<Index...>, const Its&... its) {
  return source<decltype(exec.readable(its, ""))...>{
      {exec.readable(its, detail::name_of_iterator(Index, sizeof...(Its)))}...};
}

/// The value of a fold over n elements of iterators `its`, read in step.
template <class Named, class Executor, class Init, class Op, class Lift, class... Its>
auto fold_value(const char* verb, Executor&& exec, std::int64_t n, const Init& init, const Op& op,
                const Lift& lift, Its... its) {
  if constexpr (detail::foldable<Named, Op, Lift, Its...>()) {
    using types = fold_types<Named, Op, Lift, Init, Its...>;
    using acc = typename types::accumulator;
    using parts = executor_parts<std::remove_cvref_t<Executor>>;
    const typename types::reducer reducer{detail::normalize(op),
                                          detail::make_lift<typename types::lift>(lift)};
    const auto start = detail::convert_init<acc>(init);
    if (n == 0) return reducer.project(detail::empty_fold<acc, typename types::op>(verb, start));
    auto&& base = parts::base(exec);
    return base.template fold<typename parts::policy>(
        detail::readable_source(base, std::index_sequence_for<Its...>(), its...), reducer, start,
        n);
  }
}

/// The same, written through `out` in the executor's order of work.
template <class Named, class Executor, class Out, class Init, class Op, class Lift, class... Its>
void fold_to(const char* verb, Executor&& exec, std::int64_t n, Out out, const Init& init,
             const Op& op, const Lift& lift, Its... its) {
  if constexpr (detail::foldable<Named, Op, Lift, Its...>()) {
    using types = fold_types<Named, Op, Lift, Init, Its...>;
    using acc = typename types::accumulator;
    using parts = executor_parts<std::remove_cvref_t<Executor>>;
    const typename types::reducer reducer{detail::normalize(op),
                                          detail::make_lift<typename types::lift>(lift)};
    const auto start = detail::convert_init<acc>(init);
    auto&& base = parts::base(exec);
    if (n == 0) {
      base.store(reducer.project(detail::empty_fold<acc, typename types::op>(verb, start)), out);
      return;
    }
    base.template fold_into<typename parts::policy>(
        detail::readable_source(base, std::index_sequence_for<Its...>(), its...), reducer, start, n,
        out);
  }
}

template <class T>
T count_of(const char* verb, const char* what, T n) {
  if (n < 0) {
    throw invalid_range_error("tilefold::" + std::string(verb) + ": " + what + " is " +
                              std::to_string(n));
  }
  return n;
}

/// Calls use(init, op) with what the last arguments of a verb mean: nothing (a sum), an operator,
/// an initial value, or an initial value and an operator.
template <class T, class Use>
auto with_init_and_op(const Use& use) {
  return use(no_init{}, plus{});
}
template <class T, class Use, class OpOrInit>
auto with_init_and_op(const Use& use, const OpOrInit& op_or_init) {
  if constexpr (detail::is_operator<OpOrInit, T>()) {
    return use(no_init{}, op_or_init);
  } else {
    return use(op_or_init, plus{});
  }
}
template <class T, class Use, class Init, class Op>
auto with_init_and_op(const Use& use, const Init& init, const Op& op) {
  return use(init, op);
}

/// Folds every tree of make_forest(source of the readable iterators) through `out`. `most_trees` is
/// the number of trees, or a bound where only the executor's memory knows it.
template <class Named, class Executor, class MakeForest, class Out, class Init, class Op,
          class... Its>
void forest_to(Executor&& exec, const MakeForest& make_forest, std::int64_t most_trees, Out out,
               const Init& init, const Op& op, const Its&... its) {
  using types = fold_types<Named, Op, as_is, Init, Its...>;
  using acc = typename types::accumulator;
  using parts = executor_parts<std::remove_cvref_t<Executor>>;
  static_assert(!std::same_as<Init, no_init> || has_identity<typename types::op, acc>,
                "tilefold: a segment may be empty, so give an initial value, or an operator whose "
                "identity is known (op_traits)");
  const typename types::reducer reducer{detail::normalize(op), {}};
  const auto start = detail::convert_init<acc>(init);
  if (most_trees == 0) return;
  auto&& base = parts::base(exec);
  base.template fold_forest<typename parts::policy>(
      make_forest(
          base, source<decltype(base.readable(its, "first"))...>{{base.readable(its, "first")}...}),
      most_trees, reducer, start, detail::empty_fold<acc, typename types::op>("", start), out);
}

}  // namespace tilefold::detail
