// SPDX-License-Identifier: Apache-2.0
//
// What every verb does around the primitives: reads its arguments (operator, initial value or
// neither; range or pair of iterators), counts the items, settles the empty range, and hands a
// source and a reducer to the executor. Where an operator goes, a public reducer goes as well.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/core/float_control.hpp>
#include <tilefold/detail/core/function_checks.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/core/stand_in.hpp>
#include <tilefold/error.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail {

// Looser than std::random_access_iterator, which some device iterators do not model.
template <class It>
concept item_iterator = !executor<It> && requires(const It& it, std::int64_t i) {
  typename std::iter_value_t<It>;
  { it - it } -> std::convertible_to<std::int64_t>;
  it[static_cast<std::iter_difference_t<It>>(i)];
};

template <class R>
concept item_range = !executor<R> && requires(R& range) {
  { std::begin(range) } -> item_iterator;
  { std::end(range) } -> std::same_as<decltype(std::begin(range))>;
};

// What a result is written through: a pointer or an output iterator. A number is none,
// nor is a lambda (although * turns one into a function), so reduce_into(exec, array, &out, 10)
// means an array, its output and an initial value, and not (exec, first, last, out).
template <class Out>
concept output = requires(Out& out) {
  *out;
  requires !std::is_function_v<std::remove_reference_t<decltype(*out)>>;
};

template <item_range R>
using range_iterator_t = decltype(std::begin(std::declval<R&>()));

// What looks like an iterator or a range, and is none that a fold can read.
template <class It>
concept some_iterator = !executor<It> && requires(It& it) {
  *it;
  ++it;
};
template <class R>
concept some_range = !executor<R> && requires(R& range) {
  { std::begin(range) } -> some_iterator;
  std::end(range);
};

/// Why the first arguments of a verb cannot be items: of a range, or of two iterators.
enum class refusal { none, not_indexed, two_types, a_length };

template <class First, class Second = void>
constexpr refusal why_refused() {
  if constexpr (some_range<First>) {
    if constexpr (item_range<First>) return refusal::none;
    return refusal::not_indexed;
  } else if constexpr (!some_iterator<First>) {
    return refusal::none;
  } else if constexpr (!item_iterator<First>) {
    return refusal::not_indexed;
  } else if constexpr (std::is_same_v<First, Second> || std::is_void_v<Second>) {
    return refusal::none;
  } else if constexpr (std::convertible_to<First, Second> || std::convertible_to<Second, First>) {
    if constexpr (item_iterator<Second>) return refusal::two_types;
    return refusal::none;
  } else {
    return std::integral<Second> ? refusal::a_length : refusal::none;
  }
}
template <class... Arguments>
inline constexpr refusal refusal_of = refusal::none;
template <class First>
inline constexpr refusal refusal_of<First> = detail::why_refused<First>();
template <class First, class Second, class... More>
inline constexpr refusal refusal_of<First, Second, More...> =
    executor<First> ? refusal_of<Second, More...> : detail::why_refused<First, Second>();

/// For an overload that takes what no other does, and says why in one sentence (refuse()).
template <class... Arguments>
concept refused_items = refusal_of<Arguments...> != refusal::none;

template <refusal why>
no_result refuse_for() {
  static_assert(why != refusal::not_indexed,
                "tilefold: items must be random-access, first[i] and last - first: copy those of a "
                "list or a filter view to an array first");
  static_assert(why != refusal::two_types,
                "tilefold: first and last must have one type: begin() and end(), or cbegin() and "
                "cend()");
  static_assert(why != refusal::a_length,
                "tilefold: a range is two iterators, first and last: pass first + n, not n");
  return {};
}

template <class... Arguments>
no_result refuse() {
  return detail::refuse_for<refusal_of<Arguments...>>();
}

/// What may be the first argument of a call, and no other.
template <class T>
concept names_executor = executor<T> || stand_in<T>;

/// An initial value, an operator, both or neither.
template <class... InitOp>
concept init_or_op = sizeof...(InitOp) <= 2 && !(names_executor<InitOp> || ...);

/// How many arguments follow the items of a call, which are a range or two iterators; -1 if the
/// call does not begin with items, or an executor and items. Arrays count as pointers.
template <class... Arguments>
inline constexpr int after_items = -1;
template <class First, class... More>
inline constexpr int after_items<First, More...> = [] {
  constexpr int more = sizeof...(More);
  if constexpr (executor<First>) {
    return after_items<More...>;
  } else if constexpr (item_range<First> && !std::is_array_v<First>) {
    return more;
  } else {
    return item_iterator<First> ? more - 1 : -1;
  }
}();

template <class...>
inline constexpr bool executor_is_late = false;
template <class First, class... More>
inline constexpr bool executor_is_late<First, More...> = (names_executor<More> || ...);

/// Whether no argument but the first names an executor; says so in one sentence if one does.
template <class... Arguments>
constexpr bool executor_is_first() {
  constexpr bool late = executor_is_late<Arguments...>;
  static_assert(!late,
                "tilefold: an executor, a stream or an execution policy is the first argument of a "
                "call, not the last: reduce(stream, first, last, init, op)");
  return !late;
}

template <class X, class T>
concept operator_for =
    binary_op_on<normalized_op_t<X>, counted_value_t<X, typename normalized_op<X>::argument, T>>;

/// What the last arguments of a verb say: an initial value or none, and an operator or reducer.
template <class Init, class Op>
struct init_and_op {
  using init_type = Init;
  using op_type = Op;

  Init init;
  Op op;
};
template <class Init, class Op>
init_and_op(Init, Op) -> init_and_op<Init, Op>;

/// What the third argument of reduce() is; `neither` after a static_assert that has failed.
enum class third_argument { op, init, neither };

template <class X, class T>
constexpr third_argument third_argument_is() {
  if constexpr (requires { typename X::verb_concept; }) {
    static_assert(
        !requires { typename X::verb_concept; },
        "tilefold: mean, variance and the like are verbs, called as mean(range); where an "
        "operator goes, pass the reducer: tilefold::reducers::mean{}");
    return third_argument::neither;
  } else if constexpr (reducer<X> || operator_for<X, T>) {
    return third_argument::op;
  } else {
    // The narrow floats convert explicitly only, but 0 and 1.5 are initial values for them.
    constexpr bool narrow = is_narrow_float<X> || is_narrow_float<T>;
    constexpr bool init = std::convertible_to<X, T> || std::convertible_to<T, X> ||
                          (narrow && (converts_to<X, T> || converts_to<T, X>)) ||
                          meets_in_common_type<plus, T, X>;
    if constexpr (!init && detail::is_const<X, T, T>()) {
      static_assert(init,
                    "tilefold: the argument after the range must be an operator callable with two "
                    "values of the range, or an initial value that converts to or from them (a "
                    "reducer of your own says 'using reducer_concept = tilefold::reducer_tag;')");
    }
    return init ? third_argument::init : third_argument::neither;
  }
}

inline void require_count(const char* verb, std::int64_t n) {
  if (n >= 0) return;
  throw invalid_range_error("tilefold::" + std::string(verb) + ": last lies " + std::to_string(-n) +
                            " items before first");
}

/// How many items an executor is given. On ranks a number below 0 is refused later, by all of them.
template <class Exec = void, class It>
std::int64_t count_items(const char* verb, const It& first, const It& last) {
  const auto n = static_cast<std::int64_t>(last - first);
  if constexpr (!spans_ranks<Exec>) detail::require_count(verb, n);
  return n;
}

template <class Op>
std::string operator_name() {
  if constexpr (requires { Op::name_in_messages; }) return Op::name_in_messages;
  return std::string(detail::type_name<Op>());
}

[[noreturn]] inline void throw_empty(const char* verb, const std::string& name) {
  throw empty_range_error("tilefold::" + std::string(verb) +
                          ": the range is empty, there is no initial value, and no identity is "
                          "known for " +
                          name +
                          "; pass tilefold::if_empty(op, value) to give an empty range a result");
}

template <class Lift, class... Its>
using wanted_lift_t = std::conditional_t<(computes_items<Its> || ...), of_computed<Lift>, Lift>;

template <class Wanted, class Lift>
Wanted make_lift(const Lift& lift) {
  if constexpr (std::same_as<Wanted, Lift>) {
    return lift;
  } else if constexpr (requires { typename Wanted::inner; }) {
    return {detail::make_lift<typename Wanted::inner>(lift)};
  } else {
    return {lift};
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

/// Whether a fold can copy its accumulators; says so in one sentence if not.
template <class Acc>
constexpr bool copies_accumulator() {
  constexpr bool yes = std::is_copy_constructible_v<Acc>;
  static_assert(yes,
                "tilefold: the items are folded in a type that cannot be copied; name one that can "
                "be: reduce<Acc>(...), or fold what a function makes of them: transform_reduce");
  return yes;
}

// In reducer.hpp.
template <class R, class Lift, class... Values>
constexpr bool reducible();

/// Whether Op can fold values of type T, whatever the accumulator; says in one sentence why not.
template <class Named, class Op, class T>
constexpr bool folds_values() {
  constexpr bool op = operator_on_values<Op, T> || !std::is_void_v<Named>;
  if constexpr (!op && detail::is_const<Op, T, T>()) {
    static_assert(op,
                  "tilefold: the operator must be callable with two values of the range; if it "
                  "takes accumulators only, name their type: reduce<Acc>(...)");
  }
  return op;
}

/// Whether values of type T fold in their accumulator; says in one sentence why not.
template <class Named, class Op, class T, class Init>
constexpr bool accumulates() {
  if constexpr (!detail::folds_values<Named, Op, T>()) {
    return false;
  } else {
    using accumulator = accumulator_t<Named, Op, T, Init>;
    constexpr bool init = std::same_as<Init, no_init> || converts_to<Init, accumulator>;
    constexpr bool op = binary_op_on<normalized_op_t<Op>, accumulator>;
    using counted = counted_value_t<Op, typename normalized_op<Op>::argument, T>;
    constexpr bool values = converts_to<T, counted> && converts_to<counted, accumulator>;
    if constexpr (!detail::copies_accumulator<accumulator>()) {
      return false;
    } else if constexpr (!op && detail::is_const<normalized_op_t<Op>, accumulator, accumulator>()) {
      static_assert(op,
                    "tilefold: the operator cannot be called with two accumulators; name a fitting "
                    "accumulator type: reduce<Acc>(...)");
    } else {
      static_assert(!op || values,
                    "tilefold: the values of the range do not convert to the accumulator type");
      static_assert(!op || !values || init,
                    "tilefold: the initial value does not convert to the accumulator type");
    }
    return op && values && init;
  }
}

// In sequential_blocks.hpp: how operators with an order of their own are folded.
template <std::int64_t, class Reducer>
struct sequential_reducer;
template <class Executor>
struct sequential_folds;

// Says in one sentence what cannot be called. Where it returns false nothing else of the fold is
// instantiated, for a page of errors would hide the sentence.
template <class Named, class Op, class Lift, class Init, class... Its>
constexpr bool foldable() {
  constexpr bool changes =
      (std::is_volatile_v<std::remove_reference_t<std::iter_reference_t<Its>>> || ...);
  static_assert(!changes, "tilefold: items must not be volatile");
  if constexpr (changes) {
    return false;
  } else if constexpr (has_empty_value<Op> || is_sequential<Op>) {
    return detail::foldable<Named, typename Op::inner, Lift, Init, Its...>();
  } else if constexpr (!detail::copies<Lift>() ||
                       !detail::is_const<Lift, std::iter_value_t<Its>...>()) {
    return false;
  } else if constexpr (!value_function_on<Lift, std::iter_value_t<Its>...> &&
                       !std::same_as<Lift, as_is>) {
    static_assert(value_function_on<Lift, std::iter_value_t<Its>...>,
                  "tilefold: the function must be callable with an item of each range and return "
                  "a value");
    return false;
  } else if constexpr (reducer<Op>) {
    constexpr bool included = requires { sizeof(typename Op::reducer_concept); };
    static_assert(included, "tilefold: a reducer needs #include <tilefold/reducer.hpp>");
    if constexpr (included) return detail::reducible<Op, Lift, std::iter_value_t<Its>...>();
    return false;
  } else {
    return detail::accumulates<Named, Op, call_result_t<Lift, std::iter_value_t<Its>...>, Init>();
  }
}

/// The executor that an executor or a view of one folds with.
template <class Executor>
using executor_base_t =
    std::remove_cvref_t<decltype(executor_parts<std::remove_cvref_t<Executor>>::base(
        std::declval<Executor&>()))>;

/// Returns what folds with a reducer: the executor, unless the reducer has an order of its own.
template <class Base, class Reducer>
Base& folder_of(Base& base, const Reducer&) {
  return base;
}
template <class Base, std::int64_t Block, class Reducer>
sequential_folds<Base> folder_of(Base& base, const sequential_reducer<Block, Reducer>&) {
  return {base};
}

/// Whether the executor can fold with what `Types` name; says in one sentence why not. A GPU cannot
/// copy every type.
template <class Executor, class Types, class... Functions>
constexpr bool runs_on() {
  return executor_base_t<Executor>::template takes<typename Types::accumulator,
                                                   typename Types::bound::result, Functions...>();
}

/// Whether such results can be written through `Out`; says in one sentence why not.
template <class Out, class Result>
constexpr bool takes_result() {
  if constexpr (has_value_type<Out>) {
    using held = std::iter_value_t<Out>;
    constexpr bool is_const =
        std::is_const_v<std::remove_reference_t<decltype(*std::declval<Out&>())>> &&
        !std::is_class_v<std::remove_cvref_t<decltype(*std::declval<Out&>())>>;
    static_assert(!is_const,
                  "tilefold: results cannot be written through the output, which is "
                  "const");
    constexpr bool converts = converts_to<Result, held>;
    static_assert(converts,
                  "tilefold: the result does not convert to the type that the output holds");
    return !is_const && converts;
  } else {
    return true;
  }
}

// What messages call iterator `index` of `count`, as the verbs' own parameters are called.
constexpr const char* name_of_iterator(std::size_t index, std::size_t count) {
  if (count == 1) return "first";
  return index == 0 ? "first1" : "first2";
}

/// The source of iterators `its` as the executor reads them, the index before them if that is asked
/// for; throws if it cannot read them.
template <bool Indexed, class Executor, std::size_t... Index, class... Its>
auto readable_source(Executor& exec, std::index_sequence<Index...>, const Its&... its) {
  const auto read = [&](const auto& it, std::size_t index) {
    return detail::read_only(exec.accessible(it, detail::name_of_iterator(index, sizeof...(Its))));
  };
  // In braces calls are made from left to right: of two bad iterators the first one is named.
  if constexpr (Indexed) {
    return source<index_iterator, decltype(read(its, Index))...>{{index_iterator{}},
                                                                 {read(its, Index)}...};
  } else {
    return source<decltype(read(its, Index))...>{{read(its, Index)}...};
  }
}

/// For an operator or reducer without if_empty().
struct nothing_untold {
  static constexpr bool known = false;
};

/// Everything a fold needs but the executor.
template <class Named, class Op, class Lift, class Init, class... Its>
struct fold_types {
  static_assert(result_known<Op> && result_known<Lift>,
                "tilefold: a __device__ lambda must name its result, [] __device__(...) -> T, for "
                "the host compiler cannot know it; or make it __host__ __device__");
  using value = call_result_t<Lift, std::iter_value_t<Its>...>;
  using accumulator = accumulator_t<Named, Op, value, Init>;
  using op = normalized_op_t<Op>;
  using lift = typed_lift_t<typename normalized_op<Op>::argument, value, accumulator,
                            wanted_lift_t<Lift, Its...>>;
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

  using nothing = nothing_untold;
  static constexpr bool indexed = false;
  static constexpr bool empty_is_known = has_identity<op, accumulator>;
};

// Of a public reducer, in reducer.hpp. Left undefined here, so that a missing include is a compile
// error.
template <class Named, reducer R, class Lift, class Init, class... Its>
struct fold_types<Named, R, Lift, Init, Its...>;

/// nothing_of the elements, or of what Lift makes of them.
template <bool AsIs, class Op, class Value, class Lift, class... Elements>
struct nothing_over {
  using type = nothing_of<Op, Value, Elements...>;
};
template <class Op, class Value, class Lift, class... Elements>
struct nothing_over<false, Op, Value, Lift, Elements...> {
  using type = nothing_of<Op, Value, call_result_t<Lift, Elements...>>;
};

// Everything a fold needs but the executor, where if_empty() gives a result for an empty range.
template <class Named, class Op, class Value, class Lift, class Init, class... Its>
struct fold_types<Named, with_empty_value<Op, Value>, Lift, Init, Its...>
    : fold_types<Named, Op, Lift, Init, Its...> {
  using base = fold_types<Named, Op, Lift, Init, Its...>;

  using nothing = typename nothing_over<std::same_as<Lift, as_is>, Op, Value, Lift,
                                        std::iter_value_t<Its>...>::type;
  static constexpr bool empty_is_known = nothing::known || base::empty_is_known;

  static auto bind(const with_empty_value<Op, Value>& op, const Lift& lift) {
    return base::bind(op.op, lift);
  }
};

template <class Acc, class Init>
auto convert_init(const Init& init) {
  if constexpr (std::same_as<Init, no_init>) {
    return init;
  } else {
    // The initial value may be a product, which must not be fused with the last combine.
    return Acc(detail::closed_on_host(detail::convert<Acc>(detail::closed_on_host(init))));
  }
}

/// What the last arguments of a verb mean for values of type T: nothing (a sum), an operator or
/// reducer, an initial value, or an initial value and an operator or reducer. If they are refused
/// it is no_result, for which nothing else is instantiated.
template <class T>
auto read_arguments() {
  return init_and_op{no_init{}, plus{}};
}
template <class T, class OpOrInit>
auto read_arguments(const OpOrInit& op_or_init) {
  constexpr third_argument what = detail::third_argument_is<OpOrInit, T>();
  if constexpr (!detail::copies<OpOrInit>()) {
    return no_result{};
  } else if constexpr (what == third_argument::op) {
    return init_and_op{no_init{}, op_or_init};
  } else if constexpr (what == third_argument::init) {
    return init_and_op{op_or_init, plus{}};
  } else {
    return no_result{};
  }
}
template <class T, class Init, class Op>
auto read_arguments(const Init& init, const Op& op) {
  if constexpr (detail::copies<Init, Op>()) {
    return init_and_op{init, op};
  } else {
    return no_result{};
  }
}

/// A fold, bound to the types of its items: all that a verb hands to an executor but the items.
template <class Types, class Init, class Op>
struct bound_fold {
  using types = Types;
  using result = typename Types::bound::result;
  static constexpr bool indexed = Types::indexed;
  using start_type =
      std::conditional_t<std::same_as<Init, no_init>, no_init, typename Types::accumulator>;
  // Whether there is a result for no items.
  static constexpr bool empty_is_known = !std::same_as<Init, no_init> || Types::empty_is_known;

  Op op;
  typename Types::bound reducer;
  start_type start;

  /// The items as `reader`, an executor or a view of one, reads them; with their indices before
  /// them if the reducer asks for those.
  template <class Reader, class... Its>
  auto source(const Reader& reader, const Its&... its) const {
    return detail::readable_source<Types::indexed>(reader, std::index_sequence_for<Its...>(),
                                                   its...);
  }

  /// What stands for an empty range: the result that if_empty gives; else the initial value or the
  /// identity, not projected; else an error.
  auto empty(const char* verb) const {
    if constexpr (Types::nothing::known) {
      return given_result<result>{Types::nothing::template result<result>(op.op, op.value)};
    } else if constexpr (std::same_as<Init, no_init>) {
      return Types::empty(verb, reducer);
    } else {
      return start;
    }
  }
};

/// Binds what the last arguments say to items of iterators of types Its, behind the caller's
/// function `lift`.
template <class Named, class... Its, class Init, class Op, class Lift>
auto bind(const init_and_op<Init, Op>& arguments, const Lift& lift) {
  using types = fold_types<Named, Op, Lift, Init, Its...>;
  return bound_fold<types, Init, Op>{
      arguments.op, types::bind(arguments.op, lift),
      detail::convert_init<typename types::accumulator>(arguments.init)};
}

/// Whether bind() can bind, and the executor fold; says in one sentence why not.
template <class Named, class Executor, class Arguments, class Lift, class... Its>
constexpr bool folds() {
  if constexpr (std::same_as<Arguments, no_result>) {
    return false;
  } else {
    using init = typename Arguments::init_type;
    using op = typename Arguments::op_type;
    if constexpr (!detail::foldable<Named, op, Lift, init, Its...>()) {
      return false;
    } else {
      return detail::runs_on<Executor, fold_types<Named, op, Lift, init, Its...>, op, Lift>();
    }
  }
}

/// Whether the result can be written, too.
template <class Named, class Executor, class Out, class Arguments, class Lift, class... Its>
constexpr bool folds_to() {
  if constexpr (!detail::folds<Named, Executor, Arguments, Lift, Its...>()) {
    return false;
  } else {
    using bound = decltype(detail::bind<Named, Its...>(std::declval<const Arguments&>(),
                                                       std::declval<const Lift&>()));
    return detail::takes_result<Out, typename bound::result>();
  }
}

/// The value of a fold over n elements of iterators `its`, read in step.
template <class Named, class Executor, class Arguments, class Lift, class... Its>
auto fold_value(const char* verb, Executor&& exec, std::int64_t n, const Arguments& arguments,
                const Lift& lift, const Its&... its) {
  if constexpr (!detail::folds<Named, Executor, Arguments, Lift, Its...>()) {
    return no_result{};
  } else {
    return host::in_default_float_mode([&] {
      using parts = executor_parts<std::remove_cvref_t<Executor>>;
      const auto bound = detail::bind<Named, Its...>(arguments, lift);
      using result = typename decltype(bound)::result;
      auto&& base = parts::base(exec);
      if constexpr (spans_ranks<decltype(base)>) {
        return base.template fold_value<typename parts::policy>(verb, bound, n, its...);
      } else {
        if (n == 0) {
          // Closed whatever the target: this may be inlined into the caller's function.
          return result(
              detail::closed_on_host(detail::result_of_nothing(bound.reducer, bound.empty(verb))));
        }
        return detail::folder_of(base, bound.reducer)
            .template fold<typename parts::policy>(bound.source(base, its...), bound.reducer,
                                                   bound.start, n);
      }
    });
  }
}

/// Writes the value of a fold over n elements of iterators `its`, read in step, through `out`, in
/// the executor's order of work.
template <class Named, class Executor, class Out, class Arguments, class Lift, class... Its>
void fold_to(const char* verb, Executor&& exec, std::int64_t n, const Out& out,
             const Arguments& arguments, const Lift& lift, const Its&... its) {
  if constexpr (detail::folds_to<Named, Executor, Out, Arguments, Lift, Its...>()) {
    host::in_default_float_mode([&] {
      using parts = executor_parts<std::remove_cvref_t<Executor>>;
      const auto bound = detail::bind<Named, Its...>(arguments, lift);
      auto&& base = parts::base(exec);
      if constexpr (spans_ranks<decltype(base)>) {
        base.template fold_value_to<typename parts::policy>(verb, bound, n, out, its...);
      } else {
        if (n == 0) {
          base.store(detail::result_of_nothing(closed_steps{bound.reducer}, bound.empty(verb)),
                     out);
          return;
        }
        detail::folder_of(base, bound.reducer)
            .template fold_into<typename parts::policy>(bound.source(base, its...), bound.reducer,
                                                        bound.start, n, out);
      }
    });
  }
}

template <std::integral T>
std::int64_t count_of(const char* verb, const char* what, T n) {
  const auto count = static_cast<std::int64_t>(n);
  if (count < 0) {
    throw invalid_range_error("tilefold::" + std::string(verb) + ": " + what + " is " +
                              std::to_string(n));
  }
  return count;
}

}  // namespace tilefold::detail
