// SPDX-License-Identifier: Apache-2.0
//
// What a fold computes: a reducer lifts an element into an accumulator, combines two accumulators,
// and projects the last one to the result. Here is the reducer that is made of an operator, and how
// results are made and written. (Public reducers: reducer.hpp.) Plain values that host and device
// code share.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/core/closing.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/op.hpp>

namespace tilefold {

// Defined in reducer.hpp.
struct reducer_tag;

/// A public reducer, or one of the caller's own: reducer.hpp says what it has.
template <class R>
concept reducer = std::same_as<typename R::reducer_concept, reducer_tag>;

}  // namespace tilefold

namespace tilefold::detail {

// A public reducer with its elements, and what is known of it: in bound_reducer.hpp and
// reducer_shortcuts.hpp, which reducer.hpp includes.
template <class R, class Lift, class... Values>
class bound_reducer;
template <class R>
struct ways;

// An operator with an order of its own: in sequential_blocks.hpp.
template <std::int64_t, class Op>
struct with_sequential_blocks;
template <class Op>
inline constexpr bool is_sequential = false;
template <std::int64_t Block, class Op>
inline constexpr bool is_sequential<with_sequential_blocks<Block, Op>> = true;

/// The type of a result that the caller may name; void for the default.
template <class Result, class Default>
using named_or = std::conditional_t<std::is_void_v<Result>, Default, Result>;

// Floating numbers as integers. If the integer type cannot hold the number, the language does not
// say what comes out, and processors differ. Here it is the nearest integer that the type can hold,
// and 0 for NaN, everywhere.
#if defined(__CUDA_ARCH__)

// The GPU's own conversions stop at the ends of 32 and 64 bits.
template <integer Int, real Real>
__device__ __forceinline__ Int bounded_integer(Real value) {
  constexpr bool is_float = sizeof(Real) == 4;
  constexpr bool is_signed = std::is_signed_v<Int>;
  if constexpr (sizeof(Int) == 8 && is_signed) {
    return static_cast<Int>(is_float ? __float2ll_rz(value) : __double2ll_rz(value));
  } else if constexpr (sizeof(Int) == 8) {
    return static_cast<Int>(is_float ? __float2ull_rz(value) : __double2ull_rz(value));
  } else if constexpr (is_signed) {
    return static_cast<Int>(is_float ? __float2int_rz(value) : __double2int_rz(value));
  } else {
    return static_cast<Int>(is_float ? __float2uint_rz(value) : __double2uint_rz(value));
  }
}

#endif

template <integer Int, real Real>
TILEFOLD_HD Int nearest_integer(Real value) {
  constexpr auto least = static_cast<Real>(smallest<Int>);
  constexpr auto half_above = static_cast<Real>(largest<Int> / 2 + 1);  // a power of two, so exact
  if (value < least) return smallest<Int>;
  if (value / 2 >= half_above) return largest<Int>;
  return value >= least ? static_cast<Int>(value) : Int{0};
}

/// `value` rounded toward zero, bounded to what Int holds; 0 for NaN.
template <integer Int, real Real>
TILEFOLD_HD Int to_integer(Real value) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Int) > 8) {
    return detail::nearest_integer<Int>(value);
  } else if constexpr (sizeof(Int) < sizeof(int)) {
    return static_cast<Int>(
        detail::bounded(detail::to_integer<int>(value), int{smallest<Int>}, int{largest<Int>}));
  } else if constexpr (sizeof(Int) == 4 && sizeof(Real) == 4) {
    return detail::bounded_integer<Int>(value);  // gives 0 for NaN by itself, unlike the others
  } else {
    return detail::is_nan(value) ? Int{0} : detail::bounded_integer<Int>(value);
  }
#else
  return detail::nearest_integer<Int>(value);
#endif
}

// A NaN has many bit patterns, and machines disagree about which one an operation makes. So every
// NaN that is a result gets the same one.
template <class T>
TILEFOLD_HD T canonical(const T& value) {
  if constexpr (floating<T>) {
    return detail::is_nan(value) ? quiet_nan<T>() : value;
  } else if constexpr (complex_like<T>) {
    const auto z = detail::as_pair(value);
    return detail::from_pair<T>({detail::canonical(z.re), detail::canonical(z.im)});
  } else {
    return value;
  }
}

/// static_cast, also between complex types, whose converting constructors device code cannot call,
/// and from narrow floats to whatever float converts to. An integer is the nearest that there is.
template <class To, class From>
TILEFOLD_HD To convert(const From& value) {
  if constexpr (complex_like<To> && complex_like<From> && !std::same_as<To, From>) {
    using real = typename To::value_type;
    const auto z = detail::as_pair(value);
    return detail::from_pair<To>({static_cast<real>(z.re), static_cast<real>(z.im)});
  } else if constexpr (is_narrow_float<From> && !std::same_as<To, From>) {
    return detail::convert<To>(static_cast<float>(value));
  } else if constexpr (real<From> && integer<To> && !std::same_as<To, bool>) {
    return detail::to_integer<To>(value);
  } else if constexpr (real<From> && std::same_as<To, bool> && !std::same_as<From, bool>) {
    return !(value >= 0 && value <= 0);  // users may compile with -Wfloat-equal
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
inline constexpr bool closes_items = !std::same_as<typename lift_function<Lift>::type, Lift>;
template <class Lift>
inline constexpr bool lifts_items_themselves =
    std::same_as<typename lift_function<Lift>::type, as_is>;

/// What Lift gives, as the X of a typed functor such as std::plus<X>.
template <class X, class Lift>
struct typed_lift {
  using inner = Lift;
  Lift lift;

  TILEFOLD_NO_EXEC_CHECK
  template <class... Values>
  TILEFOLD_HD X operator()(const Values&... values) const {
    return detail::convert<X>(lift(values...));
  }
};

/// The lift to Acc of values T, which Lift gives, for a functor that asks for X, or for void. Where
/// nobody could tell whether the values were of type X on the way, it is Lift.
template <class X, class T, class Acc, class Lift>
using typed_lift_t =
    std::conditional_t<std::is_void_v<X> || std::same_as<X, T> || std::same_as<X, Acc>, Lift,
                       typed_lift<X, Lift>>;

}  // namespace tilefold::detail

// A conversion multiplies nothing.
template <class X, class T>
struct tilefold::op_traits<tilefold::detail::typed_lift<X, tilefold::detail::as_is>, T> {
  static constexpr bool commutative = false;
  static constexpr bool order_free = false;
  static constexpr bool separately_rounded = true;
};

namespace tilefold::detail {

template <class It>
inline constexpr bool computes_items = !std::is_lvalue_reference_v<std::iter_reference_t<It>>;

/// The reducer made of an operator and a lift.
template <class Acc, class Op, class Lift = as_is>
struct op_reducer {
  using accumulator = Acc;
  using result = Acc;

  static constexpr bool commutative = op_traits<Op, Acc>::commutative;
  static_assert(commutative || !op_traits<Op, Acc>::order_free,
                "tilefold: an order-free reduction is commutative: op_traits that say order_free "
                "must say commutative, too");
  static constexpr bool order_free = op_traits<Op, Acc>::order_free;
  // What a reducer may know and an operator cannot say (detail/core/reducer_shortcuts.hpp).
  static constexpr bool commutative_among_equals = commutative;
  static constexpr bool long_combine = false;
  static constexpr bool lifts_packets = false;
  // Whether a compiler could fuse across a lift or a combine, so that it is to be closed
  // (detail/core/closing.hpp; op_traits::separately_rounded), and so the result.
  static constexpr bool lift_may_fuse =
      !std::same_as<Lift, as_is> && !integer<Acc> && !op_traits<Lift, Acc>::separately_rounded;
  static constexpr bool combine_may_fuse = !op_traits<Op, Acc>::separately_rounded && !integer<Acc>;
  static constexpr bool result_may_fuse = lift_may_fuse || combine_may_fuse;
  // Whether each of its operations is rounded whatever stands before or after it.
  static constexpr bool rounds_alone =
      normalized_op<Op>::known && op_traits<Op, Acc>::separately_rounded;

  // Whether a backend may put neutral() where an operand is missing: with an operator of ours, on
  // types whose arithmetic we know, nobody can tell.
  static constexpr bool may_pad =
      normalized_op<Op>::known && commutative && arithmetic_like<Acc> && has_identity<Op, Acc>;
  TILEFOLD_HD static Acc neutral()
    requires(may_pad)
  {
    return op_traits<Op, Acc>::identity();
  }

  Op op;
  Lift lift_op;

  template <class... Values>
  TILEFOLD_HD Acc lift(const Values&... values) const {
    return lift_across(no_border{}, values...);
  }

  /// The same, values closed before they meet the caller's function, and what that returns before
  /// it meets a conversion.
  TILEFOLD_NO_EXEC_CHECK
  template <class Closing, class... Values>
  TILEFOLD_HD Acc lift_across(const Closing& closing, const Values&... values) const {
    const auto& function = lift_function<Lift>::of(lift_op);
    if constexpr (closes_items<Lift> && !lifts_items_themselves<Lift>) {
      return op_reducer::as_accumulator(closing, function(closing(values)...));
    } else {
      return op_reducer::as_accumulator(closing, function(values...));
    }
  }

  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD Acc combine(const Acc& a, const Acc& b) const {
    return detail::convert<Acc>(op(a, b));
  }

  /// The same, what the operator returns closed before it meets a conversion.
  TILEFOLD_NO_EXEC_CHECK
  template <class Closing>
  TILEFOLD_HD Acc combine_across(const Closing& closing, const Acc& a, const Acc& b) const
    requires(combine_may_fuse && conversion_may_fuse<call_result_t<Op, Acc, Acc>, Acc>)
  {
    return detail::convert<Acc>(closing(op(a, b)));
  }
  TILEFOLD_HD Acc combine_equals(const Acc& a, const Acc& b) const { return combine(a, b); }

  TILEFOLD_HD result project(const Acc& value) const { return detail::canonical(value); }

 private:
  // A conversion of the caller's own may compute something.
  template <class Closing, class T>
  TILEFOLD_HD static Acc as_accumulator([[maybe_unused]] const Closing& closing, const T& value) {
    if constexpr (lift_may_fuse && conversion_may_fuse<T, Acc>) {
      return detail::convert<Acc>(closing(value));
    } else {
      return detail::convert<Acc>(value);
    }
  }
};

/// The result of a fold whose items gave `folded`: op(init, folded) if there is an initial value.
template <class Reducer, class Init>
TILEFOLD_HD typename Reducer::result finish(const Reducer& reducer, const Init& init,
                                            const typename Reducer::accumulator& folded) {
  return reducer.project(reducer.combine(init, folded));
}
template <class Reducer>
TILEFOLD_HD typename Reducer::result finish(const Reducer& reducer, no_init,
                                            const typename Reducer::accumulator& folded) {
  return reducer.project(folded);
}

/// In place of an initial value: the fold is a part of a longer one, so its results are
/// accumulators, which the longer fold finishes. It also stands in place of the value of an empty
/// tree, since every tree of such a fold has items.
struct unfinished {};

template <class Reducer>
TILEFOLD_HD const typename Reducer::accumulator& finish(
    const Reducer&, unfinished, const typename Reducer::accumulator& folded) {
  return folded;
}
template <class Reducer>
TILEFOLD_HD const typename Reducer::accumulator& result_of_nothing(const Reducer&, unfinished) {
  __builtin_unreachable();
}

/// Writes accumulators as they are to an array of them. (An output with a value type would make
/// their NaNs canonical, which only results have.)
template <class Acc>
struct raw_output {
  using difference_type = std::int64_t;

  Acc* first;

  TILEFOLD_HD Acc& operator*() const { return *first; }
  TILEFOLD_HD friend raw_output operator+(const raw_output& out, std::int64_t i) {
    return {out.first + i};
  }
};

/// A result of nothing that is given as such, where else an accumulator stands.
template <class Result>
struct given_result {
  Result value;
};

/// The same where every tree of a forest has elements.
struct no_empty_tree {};

template <class Reducer>
TILEFOLD_HD typename Reducer::result result_of_nothing(const Reducer&, no_empty_tree) {
  __builtin_unreachable();
}
template <class Reducer>
TILEFOLD_HD typename Reducer::result result_of_nothing(const Reducer& reducer,
                                                       const typename Reducer::accumulator& empty) {
  return reducer.project(empty);
}
template <class Reducer>
TILEFOLD_HD const typename Reducer::result& result_of_nothing(
    const Reducer&, const given_result<typename Reducer::result>& empty) {
  return empty.value;
}

template <class Out>
concept has_value_type =
    requires { typename std::iter_value_t<Out>; } && !std::is_void_v<std::iter_value_t<Out>>;

/// What is assigned through `out` for a result. If `out` has a value type, the result is converted
/// to it, and a NaN is made the canonical one again. (An output iterator need not have one.)
template <class Out, class T>
TILEFOLD_HD auto output_value(const T& result) {
  if constexpr (has_value_type<Out>) {
    return detail::canonical(detail::convert<std::iter_value_t<Out>>(result));
  } else {
    return result;
  }
}

/// Puts `value` in the place of another one. If it cannot be assigned, for instance because a
/// member is const, it is constructed there.
TILEFOLD_NO_EXEC_CHECK
template <class T>
TILEFOLD_HD void replace(T& place, T value) {
  if constexpr (std::is_move_assignable_v<T>) {
    place = static_cast<T&&>(value);
  } else {
    place.~T();
    ::new (static_cast<void*>(__builtin_addressof(place))) T(static_cast<T&&>(value));
  }
}

/// Whether `out` leads to a place for a T that a T cannot be assigned to.
template <class Out, class T>
concept writes_unassignable =
    std::same_as<decltype(*std::declval<Out&>()), T&> && !std::is_copy_assignable_v<T>;

/// *out = value, or what replace() does.
TILEFOLD_NO_EXEC_CHECK
template <class Out, class T>
TILEFOLD_HD void write_through(Out out, T&& value) {
  if constexpr (writes_unassignable<Out, std::remove_cvref_t<T>>) {
    detail::replace<std::remove_cvref_t<T>>(*out, static_cast<T&&>(value));
  } else {
    *out = static_cast<T&&>(value);
  }
}

}  // namespace tilefold::detail
