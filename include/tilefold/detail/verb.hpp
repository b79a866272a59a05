// SPDX-License-Identifier: Apache-2.0
//
// What every verb does around the primitives: reads its arguments (operator, initial value or
// neither; range or pair of iterators), counts the items, settles the empty range, and hands a
// source and a reducer to the executor. Where an operator goes, a public reducer goes as well.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/bound_reducer.hpp>
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

template <item_range R>
using range_iterator_t = decltype(std::begin(std::declval<R&>()));

template <class X, class T>
concept operator_for =
    binary_op_on<normalized_op_t<X>, counted_value_t<X, typename normalized_op<X>::argument, T>>;

// Whether the third argument of reduce() is an operator (or reducer); says so in one sentence if it
// is nothing.
template <class X, class T>
constexpr bool is_operator() {
  if constexpr (reducer<X>) {
    return true;
  } else {
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

[[noreturn]] inline void throw_empty(const char* verb, const std::string& name) {
  throw empty_range_error("tilefold::" + std::string(verb) +
                          ": the range is empty, there is no initial value, and no identity is "
                          "known for " +
                          name);
}

template <class Lift, class... Its>
using wanted_lift_t = std::conditional_t<std::same_as<Lift, as_is> && (computes_items<Its> || ...),
                                         as_computed, Lift>;

template <class Wanted, class Lift>
Wanted make_lift(const Lift& lift) {
  if constexpr (std::same_as<Wanted, Lift>) {
    return lift;
  } else {
    return {};
  }
}

/// Whether reducer R can lift values of these types, or what Lift makes of them.
template <class R, class Lift, class... Values>
constexpr bool lifts_items() {
  if constexpr (std::same_as<Lift, as_is>) {
    return detail::lifts_values<R, Values...>();
  } else {
    return detail::lifts_values<R, call_result_t<Lift, Values...>>();
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
  using lift = wanted_lift_t<Lift, Its...>;
  using bound = op_reducer<accumulator, op, lift>;

  static bound bind(const Op& op, const Lift& lift) {
    return {detail::normalize(op), detail::make_lift<fold_types::lift>(lift)};
  }

  /// The value of an empty range, not projected.
  static accumulator empty(const char* verb, const bound&) {
    if constexpr (has_identity<op, accumulator>) {
      return op_traits<op, accumulator>::identity();
    } else {
      detail::throw_empty(verb, operator_name<op>());
    }
  }

  template <class Readable>
  static auto make_source(const Readable& readable, const Its&... its) {
    return source<decltype(readable(its))...>{{readable(its)}...};
  }
};

// The same for a public reducer.
template <class Named, reducer R, class Lift, class Init, class... Its>
struct fold_types<Named, R, Lift, Init, Its...> {
  static_assert(std::is_void_v<Named>,
                "tilefold: a reducer chooses its accumulator by itself: reduce(...) without <Acc>");
  static_assert(result_known<Lift>,
                "tilefold: a __device__ lambda must name its result, [] __device__(...) -> T, for "
                "the host compiler cannot know it; or make it __host__ __device__");
  static_assert(lifts_items<R, Lift, std::iter_value_t<Its>...>(),
                "tilefold: the reducer's lift cannot be called with the values of the range (or of "
                "as many ranges as there are)");
  using lift = wanted_lift_t<Lift, Its...>;
  using bound = bound_reducer<R, lift, std::iter_value_t<Its>...>;
  using accumulator = typename bound::accumulator;
  static_assert(std::same_as<Init, no_init> || converts_to<Init, accumulator>,
                "tilefold: the initial value of a reducer must convert to its accumulator");

  static bound bind(const R& r, const Lift& lift) {
    return {r, detail::make_lift<fold_types::lift>(lift)};
  }

  static accumulator empty(const char* verb, const bound& b) {
    if constexpr (has_reducer_identity<R, accumulator>) {
      return b.reducer.template identity<accumulator>();
    } else {
      detail::throw_empty(verb, operator_name<R>());
    }
  }

  template <class Readable>
  static auto make_source(const Readable& readable, const Its&... its) {
    if constexpr (is_indexed<R>) {
      return source<index_iterator, decltype(readable(its))...>{{index_iterator{}},
                                                                {readable(its)}...};
    } else {
      return source<decltype(readable(its))...>{{readable(its)}...};
    }
  }
};

// A reducer that is an operator and nothing else is that operator, with all its fast ways.
template <class Named, operator_reducer R, class Lift, class Init, class... Its>
struct fold_types<Named, R, Lift, Init, Its...>
    : fold_types<Named, typename R::plain_op, Lift, Init, Its...> {
  using base = fold_types<Named, typename R::plain_op, Lift, Init, Its...>;
  static auto bind(const R&, const Lift& lift) { return base::bind(typename R::plain_op{}, lift); }
};

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

/// The unprojected value of an empty range: the initial value, else the identity, else an error.
template <class Types, class Bound, class Init>
typename Types::accumulator empty_fold(const char* verb, const Bound& bound, const Init& start) {
  if constexpr (std::same_as<Init, no_init>) {
    return Types::empty(verb, bound);
  } else {
    return start;
  }
}

/// The value of a fold over n elements of iterators `its`, read in step; Op may be a reducer.
template <class Named, class Executor, class Init, class Op, class Lift, class... Its>
auto fold_value(const char* verb, Executor&& exec, std::int64_t n, const Init& init, const Op& op,
                const Lift& lift, Its... its) {
  using types = fold_types<Named, Op, Lift, Init, Its...>;
  using parts = executor_parts<std::remove_cvref_t<Executor>>;
  const auto bound = types::bind(op, lift);
  const auto start = detail::convert_init<typename types::accumulator>(init);
  if (n == 0) return bound.project(detail::empty_fold<types>(verb, bound, start));
  auto&& base = parts::base(exec);
  const auto readable = [&](const auto& it) { return base.readable(it, "first"); };
  return base.template fold<typename parts::policy>(types::make_source(readable, its...), bound,
                                                    start, n);
}

/// The same, written through `out` in the executor's order of work.
template <class Named, class Executor, class Out, class Init, class Op, class Lift, class... Its>
void fold_to(const char* verb, Executor&& exec, std::int64_t n, Out out, const Init& init,
             const Op& op, const Lift& lift, Its... its) {
  using types = fold_types<Named, Op, Lift, Init, Its...>;
  using parts = executor_parts<std::remove_cvref_t<Executor>>;
  const auto bound = types::bind(op, lift);
  const auto start = detail::convert_init<typename types::accumulator>(init);
  auto&& base = parts::base(exec);
  if (n == 0) {
    base.store(bound.project(detail::empty_fold<types>(verb, bound, start)), out);
    return;
  }
  const auto readable = [&](const auto& it) { return base.readable(it, "first"); };
  base.template fold_into<typename parts::policy>(types::make_source(readable, its...), bound,
                                                  start, n, out);
}

}  // namespace tilefold::detail
