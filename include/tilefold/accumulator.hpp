// SPDX-License-Identifier: Apache-2.0
//
// Which type a fold computes in. The accumulator type is also the type of the result.
//
// - The caller can name it: reduce<double>(first, last).
// - Sums and products: narrow floats accumulate in float; int8 and int16 in int32, their unsigned
//   twins in uint32; bool is counted in int64; every other type in itself.
// - Minimum, maximum and bitwise operators keep the value type; logical ones give bool.
// - A typed functor such as std::plus<X> counts as if the values had type X: each is converted to X
//   (typed_lift) and then to the accumulator.
// - Any other operator accumulates in what it returns for two (widened, where it can) values.
// - An initial value takes part: the accumulator is the type that holds both, of two numbers their
//   common type (with_init_t).
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tilefold/half.hpp>
#include <tilefold/op.hpp>

namespace tilefold::detail {

template <class T>
struct widened {
  using type = T;
};
template <class T>
  requires is_narrow_float<T>
struct widened<T> {
  using type = float;
};
template <integer T>
  requires(sizeof(T) < 4 && !std::same_as<T, bool>)
struct widened<T> {
  using type = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
};
template <>
struct widened<bool> {
  using type = std::int64_t;
};

template <class T>
using widened_t = typename widened<T>::type;

// An extended __device__ lambda can be called by kernels alone. To nvcc's host compiler it is a
// stand-in whose call operator is not const, and returns int unless the lambda names its result.
#if defined(__CUDACC_EXTENDED_LAMBDA__)
template <class F>
inline constexpr bool device_only = __nv_is_extended_device_lambda_closure_type(F);
template <class F>
inline constexpr bool result_known =
    !device_only<F> || __nv_is_extended_device_lambda_with_preserved_return_type(F);
#else
template <class F>
inline constexpr bool device_only = false;
template <class F>
inline constexpr bool result_known = true;
#endif

template <class F>
using callable_t = std::conditional_t<device_only<F>, F&, const F&>;

// f(values...); std::invocable holds for pointers to members, too, which are not called so.
template <class F, class... Values>
concept calls = requires(F f, const Values&... values) { static_cast<F>(f)(values...); };

template <class F, class... Values>
concept function_on = calls<callable_t<F>, Values...>;

template <class F, class... Values>
using call_result_t = std::remove_cvref_t<std::invoke_result_t<callable_t<F>, const Values&...>>;

template <class Op, class T>
concept binary_op_on = function_on<Op, T, T> && !std::is_void_v<call_result_t<Op, T, T>>;

/// The type that Op, which is normalized, folds values of type T in.
template <class Op, class T>
constexpr auto type_with_op() {
  if constexpr (one_of<Op, plus, multiplies>) {
    return std::type_identity<widened_t<T>>{};
  } else if constexpr (one_of<Op, logical_and, logical_or>) {
    return std::type_identity<bool>{};
  } else if constexpr (normalized_op<Op>::known) {
    return std::type_identity<T>{};
  } else if constexpr (binary_op_on<Op, widened_t<T>>) {
    return std::type_identity<call_result_t<Op, widened_t<T>, widened_t<T>>>{};
  } else {
    return std::type_identity<call_result_t<Op, T, T>>{};
  }
}
template <class Op, class T>
using with_op_t = typename decltype(detail::type_with_op<Op, T>())::type;

/// Stands for "no initial value".
struct no_init {};

/// What convert() of reducer.hpp can do.
template <class From, class To>
concept converts_to =
    std::constructible_from<To, From> || (complex_like<To> && complex_like<From>) ||
    (is_narrow_float<From> && std::constructible_from<To, float>);

/// Whether Op folds accumulators of type Acc, to which one of type Other converts.
template <class Op, class Acc, class Other>
concept accumulates_in = converts_to<Other, Acc> && binary_op_on<Op, Acc>;

// What the type that holds both the folded values and an initial value is chosen among.

/// Whether Op folds accumulators of type Acc, to which one of type Other converts implicitly.
template <class Op, class Acc, class Other>
concept takes_in = std::convertible_to<Other, Acc> && binary_op_on<Op, Acc>;

template <class From, class To>
concept converts_one_way = std::convertible_to<From, To> && !std::convertible_to<To, From>;

template <class A, class B>
using common_number_t = std::common_type_t<
    std::conditional_t<is_narrow_float<A> || is_narrow_float<B>, widened_t<A>, A>,
    std::conditional_t<is_narrow_float<A> || is_narrow_float<B>, widened_t<B>, B>>;

// The complex type like Complex with parts of another type, of templates whose first argument is
// the type of the parts.
template <class Complex, class Part>
struct with_parts {};
template <template <class...> class Complex, class Old, class... More, class Part>
  requires std::same_as<Old, typename Complex<Old, More...>::value_type> &&
           complex_like<Complex<Part, More...>>
struct with_parts<Complex<Old, More...>, Part> {
  using type = Complex<Part, More...>;
};
template <class T>
struct part_of {
  using type = T;
};
template <complex_like T>
struct part_of<T> {
  using type = typename T::value_type;
};
template <class A, class B>
struct common_complex {};
template <class A, class B>
  requires(complex_like<A> || complex_like<B>) && number<typename part_of<A>::type> &&
          number<typename part_of<B>::type>
struct common_complex<A, B>
    : with_parts<std::conditional_t<complex_like<A>, A, B>,
                 common_number_t<typename part_of<A>::type, typename part_of<B>::type>> {};
template <class A, class B>
using common_complex_t = typename common_complex<A, B>::type;

// Whether T is a view of an Owner, as a std::string_view is of a std::string.
template <class T, class Owner>
concept views =
    converts_one_way<Owner, T> && std::constructible_from<Owner, T> && requires(const T& view) {
      view.data();
      view.size();
    };

// A base would lose what a derived class has more.
template <class Op, class Acc, class Init>
concept meets_in_common_type =
    requires { typename std::common_type_t<Acc, Init>; } &&
    !number<std::common_type_t<Acc, Init>> && takes_in<Op, std::common_type_t<Acc, Init>, Acc> &&
    takes_in<Op, std::common_type_t<Acc, Init>, Init> && !std::is_base_of_v<Acc, Init> &&
    !std::is_base_of_v<Init, Acc>;

// An enumeration or a class converts to a number, and the number does not convert to it. A class
// without members is a constant: that + makes a bool or a char an int does not widen it.
template <class A, class B>
using plus_result_t =
    std::remove_cvref_t<decltype(std::declval<const A&>() + std::declval<const B&>())>;
template <class Op, class Acc, class Init>
concept meets_in_sum =
    normalized_op<Op>::known &&
    ((number<Init> && converts_one_way<Acc, Init>) ||
     (number<Acc> && converts_one_way<Init, Acc>)) &&
    requires { typename plus_result_t<Acc, Init>; } && number<plus_result_t<Acc, Init>> &&
    !(std::same_as<plus_result_t<Acc, Init>, int> &&
      (std::is_empty_v<Acc> || std::is_empty_v<Init>)) &&
    takes_in<Op, plus_result_t<Acc, Init>, Acc> && takes_in<Op, plus_result_t<Acc, Init>, Init>;

template <class Op, class Acc, class Init>
concept gives_accumulator =
    accumulates_in<Op, Acc, Init> && std::same_as<call_result_t<Op, Init, Acc>, Acc>;
template <class Op, class Acc, class Init>
concept init_is_wider =
    (converts_one_way<Acc, Init> && accumulates_in<Op, Init, Acc> &&
     !gives_accumulator<Op, Acc, Init>) ||
    (number<Acc> && std::convertible_to<Acc, Init> && accumulates_in<Op, Init, Acc>) ||
    (!accumulates_in<Op, Acc, Init> && accumulates_in<Op, Init, Acc>);

/// The first of these that Op folds:
///
///     numbers              their common type
///     complex numbers      with the common type of both parts
///     a view of the other  the other
///     other types          std::common_type, unless it is a number or a base of one of them
///     one is a number      what + gives, for operators of the library and if the number makes
///                          none of the other: of an enumeration and an int, an integer
///     one of the two       the one that the other converts to; if both would do, that of the
///                          values, unless they alone convert implicitly or are numbers
template <class Op, class Acc, class Init>
constexpr auto type_with_init() {
  if constexpr (std::same_as<Init, no_init> || std::same_as<Init, Acc>) {
    return std::type_identity<Acc>{};
  } else if constexpr (number<Acc> && number<Init>) {
    return std::type_identity<common_number_t<Acc, Init>>{};
  } else if constexpr (requires { requires binary_op_on<Op, common_complex_t<Acc, Init>>; }) {
    return std::type_identity<common_complex_t<Acc, Init>>{};
  } else if constexpr (views<Acc, Init> && accumulates_in<Op, Init, Acc>) {
    return std::type_identity<Init>{};
  } else if constexpr (views<Init, Acc> && accumulates_in<Op, Acc, Init>) {
    return std::type_identity<Acc>{};
  } else if constexpr (meets_in_common_type<Op, Acc, Init>) {
    return std::type_identity<std::common_type_t<Acc, Init>>{};
  } else if constexpr (meets_in_sum<Op, Acc, Init>) {
    return std::type_identity<plus_result_t<Acc, Init>>{};
  } else if constexpr (init_is_wider<Op, Acc, Init>) {
    return std::type_identity<Init>{};
  } else {
    return std::type_identity<Acc>{};
  }
}
template <class Op, class Acc, class Init>
using with_init_t = typename decltype(detail::type_with_init<Op, Acc, Init>())::type;

// Op is normalized. Named is the caller's explicit choice or void.
template <class Named, class Op, class T, class Init>
struct accumulator {
  using type = Named;
};
template <class Op, class T, class Init>
struct accumulator<void, Op, T, Init> {
  using type = with_init_t<Op, with_op_t<Op, T>, Init>;
};
// For sums and products a narrow initial value is widened just as narrow values are.
template <class Op, class T, class Init>
  requires one_of<Op, plus, multiplies>
struct accumulator<void, Op, T, Init> {
  using type = with_init_t<Op, widened_t<T>, widened_t<Init>>;
};

template <class Op, class X, class T>
using counted_value_t = std::conditional_t<std::is_void_v<X>, T, X>;

/// The accumulator of folding values of type T with the user's `Op` and an `Init` (or no_init).
template <class Named, class Op, class T, class Init>
using accumulator_t =
    typename accumulator<Named, normalized_op_t<Op>,
                         counted_value_t<Op, typename normalized_op<Op>::argument, T>, Init>::type;

}  // namespace tilefold::detail
