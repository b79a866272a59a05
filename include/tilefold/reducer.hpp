// SPDX-License-Identifier: Apache-2.0
//
// What a fold computes, and over what. A reducer lifts an element into an accumulator, combines two
// accumulators, and projects the last one to the result. A source is where the elements come from:
// one or more random-access iterators that are read at the same index. Both are plain values that
// host and device code share.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <tilefold/accumulator.hpp>
#include <tilefold/config.hpp>
#include <tilefold/detail/closing.hpp>
#include <tilefold/op.hpp>

namespace tilefold {

/// Marks a type as a reducer: `using reducer_concept = reducer_tag;`.
struct reducer_tag {};

/// A small, trivially copyable value that says what to compute of a range:
///
/// - `lift(value)`, or `lift(value1, value2)` over two ranges: one element as an accumulator;
/// - `combine(acc, acc)`: two neighbouring accumulators as one; associative;
/// - `project(acc)`: the result;
///
/// and, if it likes:
///
/// - `static constexpr bool indexed = true`: lift's last argument is the element's std::int64_t
///   index;
/// - `identity<Acc>()`: combine(identity, x) has the bits of x; its projection is the value of an
///   empty range;
/// - `static constexpr bool commutative`, `order_free`, `separately_rounded`: as in op_traits;
///   false unless it says so;
/// - `settled(acc)`, if it is order_free: combine(acc, x) has the bits of acc for every x, so that
///   the rest of the range need not be read.
///
/// What runs on a GPU is marked TILEFOLD_HD. A reducer goes wherever reduce() takes an operator.
template <class R>
concept reducer = std::same_as<typename R::reducer_concept, reducer_tag>;

}  // namespace tilefold

namespace tilefold::detail {

// A NaN has many bit patterns and machines disagree about which one an operation makes; a result
// has one.
template <class T>
TILEFOLD_HD T canonical(const T& value) {
  if constexpr (floating<T>) {
    return detail::is_nan(value) ? quiet_nan<T>() : value;
  } else if constexpr (complex_like<T>) {
    using pair = real_pair<typename T::value_type>;
    const auto z = __builtin_bit_cast(pair, value);
    return __builtin_bit_cast(T, (pair{detail::canonical(z.re), detail::canonical(z.im)}));
  } else {
    return value;
  }
}

/// What convert() can do.
template <class From, class To>
concept converts_to = std::constructible_from<To, From> ||(complex_like<To>&& complex_like<From>) ||
                      (is_narrow_float<From> && std::constructible_from<To, float>);

/// static_cast, also between complex types, whose converting constructors device code cannot call,
/// and from narrow floats to whatever float converts to.
template <class To, class From>
TILEFOLD_HD To convert(const From& value) {
  if constexpr (complex_like<To> && complex_like<From> && !std::same_as<To, From>) {
    using real = typename To::value_type;
    const auto z = __builtin_bit_cast(real_pair<typename From::value_type>, value);
    return __builtin_bit_cast(To,
                              (real_pair<real>{static_cast<real>(z.re), static_cast<real>(z.im)}));
  } else if constexpr (is_narrow_float<From> && !std::same_as<To, From>) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// Lift of a plain reduction: the element itself, converted.
struct as_is {
  template <class T>
  TILEFOLD_HD const T& operator()(const T& value) const {
    return value;
  }
};

/// Lift of items that an iterator computes: they are closed before F sees them, or the reducer.
template <class F>
struct of_computed {
  F function;
};
using as_computed = of_computed<as_is>;

template <class Lift>
inline constexpr bool closes_items = false;
template <class F>
inline constexpr bool closes_items<of_computed<F>> = true;

/// The caller's function in a lift, as_is if there is none.
template <class Lift>
struct lift_function {
  using type = Lift;
  TILEFOLD_HD static const type& of(const Lift& lift) { return lift; }
};
template <class F>
struct lift_function<of_computed<F>> {
  using type = F;
  TILEFOLD_HD static const type& of(const of_computed<F>& lift) { return lift.function; }
};
template <class Lift>
inline constexpr bool lifts_items_themselves =
    std::same_as<typename lift_function<Lift>::type, as_is>;

template <class It>
inline constexpr bool computes_items = !std::is_lvalue_reference_v<std::iter_reference_t<It>>;

/// The reducer made of an operator and a lift.
template <class Acc, class Op, class Lift = as_is>
struct op_reducer {
  using accumulator = Acc;
  using result = Acc;

  static constexpr bool commutative = op_traits<Op, Acc>::commutative;
  // Whether a compiler could fuse across a lift or a combine, so that it is to be closed
  // (detail/closing.hpp; op_traits::separately_rounded), and so the result.
  static constexpr bool lift_may_fuse = !std::same_as<Lift, as_is> && !std::integral<Acc> &&
                                        !op_traits<Lift, Acc>::separately_rounded;
  static constexpr bool combine_may_fuse =
      !op_traits<Op, Acc>::separately_rounded && !std::integral<Acc>;
  static constexpr bool result_may_fuse = lift_may_fuse || combine_may_fuse;
  // Whether each of its operations is rounded whatever stands before or after it.
  static constexpr bool rounds_alone =
      normalized_op<Op>::known && op_traits<Op, Acc>::separately_rounded;

  // Whether a backend may put neutral() where an operand is missing: with an operator of ours, on
  // types whose arithmetic we know, nobody can tell.
  static constexpr bool may_pad =
      normalized_op<Op>::known && commutative && arithmetic_like<Acc> && has_identity<Op, Acc>;
  TILEFOLD_HD static Acc neutral() requires(may_pad) { return op_traits<Op, Acc>::identity(); }

  Op op;
  Lift lift_op;

  template <class... Values>
  TILEFOLD_HD Acc lift(const Values&... values) const {
    return lift_across(no_border{}, values...);
  }

  /// The same, values closed before they meet the caller's function, and what that returns before
  /// it meets a conversion.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class Closing, class... Values>
  TILEFOLD_HD Acc lift_across(const Closing& closing, const Values&... values) const {
    const auto& function = lift_function<Lift>::of(lift_op);
    if constexpr (closes_items<Lift> && !lifts_items_themselves<Lift>) {
      return op_reducer::as_accumulator(closing, function(closing(values)...));
    } else {
      return op_reducer::as_accumulator(closing, function(values...));
    }
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  TILEFOLD_HD Acc combine(const Acc& a, const Acc& b) const {
    return detail::convert<Acc>(op(a, b));
  }

  TILEFOLD_HD result project(const Acc& value) const { return detail::canonical(value); }

 private:
  // A conversion of the caller's own may compute something.
  template <class Closing, class T>
  TILEFOLD_HD static Acc as_accumulator([[maybe_unused]] const Closing& closing, const T& value) {
    if constexpr (lift_may_fuse && !std::same_as<T, Acc> &&
                  !(arithmetic_like<T> && arithmetic_like<Acc>)) {
      return detail::convert<Acc>(closing(value));
    } else {
      return detail::convert<Acc>(value);
    }
  }
};

/// Whether Reducer::neutral() can stand where an operand is missing.
template <class Reducer>
inline constexpr bool has_neutral = requires {
  requires Reducer::may_pad;
};

/// The result of a fold whose items gave `folded`: op(init, folded) if there is an initial value.
template <class Reducer, class Init>
TILEFOLD_HD typename Reducer::result finish(const Reducer& reducer, const Init& init,
                                            const typename Reducer::accumulator& folded) {
  if constexpr (std::same_as<Init, no_init>) {
    return reducer.project(folded);
  } else {
    return reducer.project(reducer.combine(init, folded));
  }
}

template <class Out>
concept has_value_type = requires {
  typename std::iter_value_t<Out>;
}
&&!std::is_void_v<std::iter_value_t<Out>>;

/// What is assigned through `out` for a result: converted to what it holds, if it says so (an
/// output iterator need not), and then once more with the one NaN.
template <class Out, class T>
TILEFOLD_HD auto output_value(const T& result) {
  if constexpr (has_value_type<Out>) {
    return detail::canonical(detail::convert<std::iter_value_t<Out>>(result));
  } else {
    return result;
  }
}

// Element i as a value of the iterator's value type; proxies (thrust::device_reference,
// vector<bool>::reference) are converted, real references are passed on.
template <class It>
using element_t = std::conditional_t<std::is_lvalue_reference_v<std::iter_reference_t<It>>,
                                     const std::iter_value_t<It>&, std::iter_value_t<It>>;

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class It>
TILEFOLD_HD element_t<It> element(const It& first, std::int64_t i) {
  return static_cast<element_t<It>>(first[static_cast<std::iter_difference_t<It>>(i)]);
}

template <std::size_t Index, class It>
struct source_leaf {
  It first;
};

template <class Indices, class... Its>
struct source_of;

template <std::size_t... Index, class... Its>
struct source_of<std::index_sequence<Index...>, Its...> : source_leaf<Index, Its>... {
  template <std::size_t I, class It>
  TILEFOLD_HD static const It& iterator(const source_leaf<I, It>& leaf) {
    return leaf.first;
  }

  template <class Reducer>
  TILEFOLD_HD typename Reducer::accumulator lift(const Reducer& reducer, std::int64_t i) const {
    return reducer.lift(detail::element(iterator<Index>(*this), i)...);
  }

  /// Adds element i to the accumulator of elements before it (bound_reducer).
  template <class Reducer>
  TILEFOLD_HD void absorb(const Reducer& reducer, typename Reducer::accumulator& value,
                          std::int64_t i) const {
    reducer.absorb(value, detail::element(iterator<Index>(*this), i)...);
  }
};

/// One or more iterators read in step; the reducer lifts one element of each into an accumulator.
template <class... Its>
using source = source_of<std::index_sequence_for<Its...>, Its...>;

}  // namespace tilefold::detail
