// SPDX-License-Identifier: Apache-2.0
//
// A public reducer as the folds use it: with the accumulator type that its elements ask for, after
// the user's function if there is one, and with the index of each element if it wants that.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/core/function_checks.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/reducer_shortcuts.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/op.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail {

/// The base of reducers of the library that have no members.
struct empty_reducer {
  using reducer_concept = reducer_tag;
};

/// Of those whose identity is an accumulator of zeros.
struct zero_reducer : empty_reducer {
  template <class Acc>
  TILEFOLD_HD Acc identity() const {
    return Acc{};
  }
};

/// A reducer that is an operator and nothing else; folds know fast ways for those.
template <class R>
concept operator_reducer = reducer<R> && requires { typename ways<R>::plain_op; };
template <operator_reducer R>
using plain_op_of = typename ways<R>::plain_op;

/// What a user's type says of itself, or the library of its own.
template <class T>
struct told_by {
  static constexpr bool commutative = requires { requires T::commutative; };
  static constexpr bool order_free = requires { requires T::order_free; };
  static constexpr bool separately_rounded = requires { requires T::separately_rounded; };
};

/// What is known of a reducer with accumulators of type Acc.
template <class R, class Acc>
struct reducer_traits {
  static constexpr bool commutative = told_by<R>::commutative || told_by<ways<R>>::commutative;
  static constexpr bool commutative_among_equals =
      commutative || requires { requires ways<R>::commutative_among_equals; };
  static constexpr bool order_free = told_by<R>::order_free || told_by<ways<R>>::order_free;
  static constexpr bool separately_rounded =
      told_by<R>::separately_rounded || told_by<ways<R>>::separately_rounded;
};
template <operator_reducer R, class Acc>
struct reducer_traits<R, Acc> : op_traits<plain_op_of<R>, Acc> {
  static constexpr bool commutative_among_equals = op_traits<plain_op_of<R>, Acc>::commutative;
};

template <class R, class Acc>
concept has_reducer_identity = requires(const R& r) {
  { r.template identity<Acc>() } -> std::same_as<Acc>;
};

template <class R, class... Values>
concept lifts = requires(const R& r, const Values&... values) { r.lift(values...); };

// Split in three, so that the error of a broken reducer names what it lacks.
template <class R, class Acc>
concept combines = requires(const R& r, const Acc& a) {
  { r.combine(a, a) } -> std::convertible_to<Acc>;
};
template <class R, class Acc>
concept projects = requires(const R& r, const Acc& a) { r.project(a); };

/// What the accumulator of a block of finite items is made of: its count; {count, sum}; or {count,
/// sum, squared deviations from the mean}, merged as moments.hpp does. Each has what those before
/// it have.
enum class block_statistic { none, count, mean, moments };

template <class R>
inline constexpr block_statistic statistic_of = block_statistic::none;
template <class R>
  requires requires { ways<R>::statistic; }
inline constexpr block_statistic statistic_of<R> = ways<R>::statistic;

/// Whether it is known when an accumulator is settled (see reducer.hpp): of the library's own, or
/// because the reducer says so.
template <class R, class Acc>
concept knows_settled = requires(const R& r, const Acc& a) {
  { ways<R>::settled(r, a) } -> std::convertible_to<bool>;
};
template <class R, class Acc>
concept tells_settled = knows_settled<R, Acc> || requires(const R& r, const Acc& a) {
  { r.settled(a) } -> std::convertible_to<bool>;
};

/// Whether it adds an element that stands behind all others to an accumulator at less cost than by
/// lift and combine.
template <class R, class Acc, class... Values>
concept absorbs_values =
    requires(const R& r, Acc& a, const Values&... values) { ways<R>::absorb(r, a, values...); };

/// R, which takes no notice of indices, where elements come with theirs.
template <class R>
struct beside_indices : R {
  static constexpr bool indexed = true;

  template <class T>
  TILEFOLD_HD auto lift(const T& value, std::int64_t) const {
    return R::lift(value);
  }
};

template <class R>
struct ways<beside_indices<R>> : ways<R> {};

template <class R, bool Indexed, class... Values>
struct lifted {
  using type = std::remove_cvref_t<decltype(std::declval<const R&>().lift(
      std::declval<const Values&>()...))>;
};
template <class R, class... Values>
struct lifted<R, true, Values...> : lifted<R, false, Values..., std::int64_t> {};

/// The accumulator of a reducer over elements of these types.
template <class R, class... Values>
using reducer_accumulator_t = typename lifted<R, is_indexed<R>, Values...>::type;

template <class R, class... Values>
constexpr bool lifts_values() {
  if constexpr (is_indexed<R>) {
    return lifts<R, Values..., std::int64_t>;
  } else {
    return lifts<R, Values...>;
  }
}

/// Whether R is made of reducers whose combine returns something that is converted (fuse.hpp).
template <class R, class Acc>
concept parts_convert = requires(const R& r, const Acc& a) { r.combine_across(border{}, a, a); };

/// R over elements of types Values, or over what Lift makes of them unless that is as_is or
/// as_computed. If R is indexed, lift() is called with the index before the elements.
template <class R, class Lift, class... Values>
class bound_reducer {
  static constexpr bool indexed = is_indexed<R>;
  static constexpr bool plain = std::same_as<Lift, as_is>;
  static constexpr bool of_items = lifts_items_themselves<Lift>;

  template <class... V>
  struct lifted_types {
    using type = reducer_accumulator_t<R, V...>;
  };
  struct lifted_by_function {
    using type =
        reducer_accumulator_t<R, call_result_t<typename lift_function<Lift>::type, Values...>>;
  };

 public:
  using accumulator =
      typename std::conditional_t<of_items, lifted_types<Values...>, lifted_by_function>::type;
  static_assert(combines<R, accumulator>,
                "tilefold: a reducer's combine must be callable with two of what its lift returns, "
                "and return what converts to it");
  static_assert(projects<R, accumulator>,
                "tilefold: a reducer's project must be callable with what its lift returns");
  using result =
      std::remove_cvref_t<decltype(std::declval<const R&>().project(std::declval<accumulator>()))>;

  // What combine() returns, which may convert to an accumulator by a constructor that computes.
  using combined = std::remove_cvref_t<decltype(std::declval<const R&>().combine(
      std::declval<const accumulator&>(), std::declval<const accumulator&>()))>;

  static constexpr bool commutative = reducer_traits<R, accumulator>::commutative;
  static_assert(commutative || !reducer_traits<R, accumulator>::order_free,
                "tilefold: an order-free reduction is commutative: a reducer that says order_free "
                "must say commutative, too");
  // Whether nodes of equally many elements, a power of two, may be combined in any order.
  static constexpr bool commutative_among_equals =
      reducer_traits<R, accumulator>::commutative_among_equals;
  static constexpr bool combine_may_fuse =
      !reducer_traits<R, accumulator>::separately_rounded && !integer<accumulator>;
  static constexpr bool lift_may_fuse = combine_may_fuse;
  static constexpr bool result_may_fuse = !reducer_traits<R, accumulator>::separately_rounded;
  static constexpr bool order_free = reducer_traits<R, accumulator>::order_free;
  static constexpr bool settles = order_free && tells_settled<R, accumulator>;
  // Whether combine() is hundreds of instructions.
  static constexpr bool long_combine =
      requires { requires ways<R>::template long_combine<accumulator>; };
  static constexpr bool counts = requires { requires ways<R>::counts; };
  // Whether the accumulator is a list of the best elements, as another reducer lifts and ranks
  // them, by keys that have a last one.
  static constexpr bool selects = order_free && requires {
    typename ways<R>::of_one;
    accumulator::ranking::last_key;
  };
  // Whether a backend may put neutral() where an operand is missing.
  static constexpr bool may_pad =
      commutative && requires { ways<R>::template neutral<accumulator>(); };
  TILEFOLD_HD static accumulator neutral()
    requires(may_pad)
  {
    return ways<R>::template neutral<accumulator>();
  }
  // Whether packets of elements are lifted at once.
  static constexpr bool lifts_packets =
      plain && !indexed && !combine_may_fuse && has_packet_lift_of<R, Values...>;
  static constexpr bool looks_at_range = detail::looks_at_range<R, accumulator>;
  // Whether an accumulator is a count of elements and the sum of their values in double.
  static constexpr bool counts_and_sums = statistic_of<R> == block_statistic::mean;
  static constexpr bool absorbs = order_free && plain && !combine_may_fuse &&
                                  (indexed ? absorbs_values<R, accumulator, Values..., std::int64_t>
                                           : absorbs_values<R, accumulator, Values...>);
  // Whether accumulators are positions of extremes: of_values finds the extremes themselves.
  static constexpr bool finds_places = absorbs && requires { typename ways<R>::of_values; };

  // Whether it is the exact sum of a float or a double of each element.
  static constexpr bool sums_exactly = [] {
    if constexpr (!requires { typename ways<R>::summand; }) {
      return false;
    } else if constexpr (of_items) {
      return lifts<typename ways<R>::summand, Values...>;
    } else {
      return lifts<typename ways<R>::summand,
                   call_result_t<typename lift_function<Lift>::type, Values...>>;
    }
  }();

  R reducer;
  Lift function;

  template <class... V>
  TILEFOLD_HD accumulator lift(const V&... values) const {
    return lift_across(no_border{}, values...);
  }

  /// lift(), with what an iterator or the caller's function computes closed before it meets more of
  /// the caller's code. (Reducers of the library may call such code, too: a predicate.)
  template <class Closing, class... V>
  TILEFOLD_HD accumulator lift_across(const Closing& closing, const V&... values) const {
    if constexpr (indexed) {
      return with_index(closing, values...);
    } else {
      return without_index(closing, values...);
    }
  }

  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD accumulator combine(const accumulator& a, const accumulator& b) const {
    return reducer.combine(a, b);
  }

  /// combine(), with what the reducer's combine returns closed before it meets a conversion.
  TILEFOLD_NO_EXEC_CHECK
  template <class Closing>
  TILEFOLD_HD accumulator combine_across(const Closing& closing, const accumulator& a,
                                         const accumulator& b) const
    requires(combine_may_fuse &&
             (conversion_may_fuse<combined, accumulator> || parts_convert<R, accumulator>))
  {
    if constexpr (parts_convert<R, accumulator>) {
      return reducer.combine_across(closing, a, b);
    } else {
      return closing(reducer.combine(a, b));
    }
  }

  /// The node of N neighbouring elements, a power of two from 2 to 16.
  template <class V, int N>
  TILEFOLD_HD accumulator lift_packet(const V (&values)[N]) const
    requires lifts_packets
  {
    return ways<R>::lift_packet(reducer, values);
  }

  /// Whether combine(value, x) is `value` for every x.
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD bool settled(const accumulator& value) const {
    if constexpr (!settles) {
      return false;
    } else if constexpr (knows_settled<R, accumulator>) {
      return ways<R>::settled(reducer, value);
    } else {
      return reducer.settled(value);
    }
  }

  /// Adds an element to the accumulator of elements that stand before it.
  TILEFOLD_NO_EXEC_CHECK
  template <class... V>
  TILEFOLD_HD void absorb(accumulator& value, const V&... values) const {
    if constexpr (!absorbs) {
      detail::replace(value, combine(value, lift(values...)));
    } else if constexpr (indexed) {
      absorb_with_index(value, values...);
    } else {
      ways<R>::absorb(reducer, value, values...);
    }
  }

  /// The reducer of the extremes whose places this one finds.
  TILEFOLD_HD auto of_values() const
    requires finds_places
  {
    return bound_reducer<beside_indices<typename ways<R>::of_values>, Lift, Values...>{{},
                                                                                       function};
  }

  /// Calls visit(place, best) for each place of `found` and its value in `best`.
  TILEFOLD_NO_EXEC_CHECK
  template <class Best, class Visit>
  TILEFOLD_HD static void visit_places(accumulator& found, const Best& best, const Visit& visit) {
    ways<R>::visit_places(found, best, visit);
  }

  /// The reducer that lifts an element to one of an accumulator's list, if it is one.
  TILEFOLD_HD auto of_one() const
    requires selects
  {
    return bound_reducer<typename ways<R>::of_one, Lift, Values...>{{}, function};
  }

  /// The reducer that lifts an element to what it brings to an exact sum.
  TILEFOLD_HD auto of_summands() const
    requires sums_exactly
  {
    return bound_reducer<typename ways<R>::summand, Lift, Values...>{{}, function};
  }
  /// The exact sum of nothing.
  TILEFOLD_HD static auto no_exact_sum()
    requires sums_exactly
  {
    return ways<R>::template holder<accumulator>::state::nothing();
  }
  /// The accumulator of n elements of which the exact sum is known.
  template <class Sum>
  TILEFOLD_HD static accumulator of_exact_sum(const Sum& sum, std::int64_t n)
    requires sums_exactly
  {
    return ways<R>::template holder<accumulator>::of(sum, n);
  }
  /// Their result, of the highest bits of the sum.
  template <class Window>
  TILEFOLD_HD static result result_of_exact_sum(const Window& sum, std::int64_t n)
    requires sums_exactly
  {
    return detail::canonical(ways<R>::template result<accumulator>(sum, n));
  }

  /// combine() of nodes of equally many elements, a power of two.
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD accumulator combine_equals(const accumulator& a, const accumulator& b) const {
    return detail::combine_equals(reducer, a, b);
  }

  /// combine() of nodes that are in range, if what it gives is.
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD accumulator combine_in_range(const accumulator& a, const accumulator& b) const {
    return detail::combine_in_range(reducer, a, b);
  }
  TILEFOLD_HD static bool is_in_range(const accumulator& value)
    requires looks_at_range
  {
    return ways<R>::is_in_range(value);
  }

  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD result project(const accumulator& value) const {
    return detail::canonical(reducer.project(value));
  }

 private:
  TILEFOLD_NO_EXEC_CHECK
  template <class... V>
  TILEFOLD_HD void absorb_with_index(accumulator& value, std::int64_t index,
                                     const V&... values) const {
    ways<R>::absorb(reducer, value, values..., index);
  }

  TILEFOLD_NO_EXEC_CHECK
  template <class Closing, class... V>
  TILEFOLD_HD accumulator with_index(const Closing& closing, std::int64_t index,
                                     const V&... values) const {
    if constexpr (plain) {
      return reducer.lift(values..., index);
    } else if constexpr (of_items) {
      return reducer.lift(closing(values)..., index);
    } else if constexpr (closes_items<Lift>) {
      return reducer.lift(closing(function.function(closing(values)...)), index);
    } else {
      return reducer.lift(closing(function(values...)), index);
    }
  }

  TILEFOLD_NO_EXEC_CHECK
  template <class Closing, class... V>
  TILEFOLD_HD accumulator without_index(const Closing& closing, const V&... values) const {
    if constexpr (plain) {
      return reducer.lift(values...);
    } else if constexpr (of_items) {
      return reducer.lift(closing(values)...);
    } else if constexpr (closes_items<Lift>) {
      return reducer.lift(closing(function.function(closing(values)...)));
    } else {
      return reducer.lift(closing(function(values...)));
    }
  }
};

/// What statistics, which compute in double, take.
template <class T>
concept converts_to_double = converts_to<T, double>;

template <class F, class... Values>
concept predicate_on = function_on<F, Values...> && requires {
  static_cast<bool>(std::declval<std::invoke_result_t<callable_t<F>, const Values&...>>());
};

template <class F, class Value>
constexpr bool is_comparator() {
  if constexpr (detail::is_const<F, Value, Value>()) {
    constexpr bool yes = predicate_on<F, Value, Value>;
    static_assert(yes,
                  "tilefold: the comparator must be callable with two values, as comp(a, b), and "
                  "give a truth value");
    return yes;
  } else {
    return false;
  }
}

/// What a reducer that holds functions of a user's asks of them, where it lifts Values. Of exactly
/// this type: what is derived from it may lift in its own way.
template <class R>
struct functions_of {
  template <class... Values>
  static constexpr bool fit() {
    return true;
  }
};

template <class Predicate>
struct predicate_of {
  template <class... Values>
  static constexpr bool fit() {
    if constexpr (detail::is_const<Predicate, Values...>()) {
      constexpr bool yes = predicate_on<Predicate, Values...>;
      static_assert(
          yes, "tilefold: the predicate must be callable with an element and give a truth value");
      return yes;
    } else {
      return false;
    }
  }
};

}  // namespace tilefold::detail

TILEFOLD_WARNINGS_BACK
