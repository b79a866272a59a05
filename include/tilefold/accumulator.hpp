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
//   common type (with_init).
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

template <class Op, class T>
struct op_accumulator {
  using type = call_result_t<Op, T, T>;
};
template <class Op, class T>
  requires binary_op_on<Op, widened_t<T>> && (!std::same_as<T, widened_t<T>>)
struct op_accumulator<Op, T> {
  using type = call_result_t<Op, widened_t<T>, widened_t<T>>;
};
template <class T>
struct op_accumulator<plus, T> : widened<T> {};
template <class T>
struct op_accumulator<multiplies, T> : widened<T> {};
template <class T>
struct op_accumulator<minimum, T> {
  using type = T;
};
template <class T>
struct op_accumulator<maximum, T> : op_accumulator<minimum, T> {};
template <class T>
struct op_accumulator<minimum_number, T> : op_accumulator<minimum, T> {};
template <class T>
struct op_accumulator<maximum_number, T> : op_accumulator<minimum, T> {};
template <class T>
struct op_accumulator<bit_and, T> : op_accumulator<minimum, T> {};
template <class T>
struct op_accumulator<bit_or, T> : op_accumulator<minimum, T> {};
template <class T>
struct op_accumulator<bit_xor, T> : op_accumulator<minimum, T> {};
template <class T>
struct op_accumulator<logical_and, T> {
  using type = bool;
};
template <class T>
struct op_accumulator<logical_or, T> {
  using type = bool;
};

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

// The type that holds both the folded values and an initial value. Of types that are not numbers it
// is what the operator returns for both, or the one that the other converts to and that the
// operator folds. If both types would do it is the type of the values, unless only values convert
// to the other type implicitly.
template <class Op, class Acc, class Init>
concept gives_accumulator =
    accumulates_in<Op, Acc, Init> && std::same_as<call_result_t<Op, Init, Acc>, Acc>;
template <class Op, class Acc, class Init>
concept init_is_wider = (std::convertible_to<Acc, Init> && !std::convertible_to<Init, Acc> &&
                         accumulates_in<Op, Init, Acc> && !gives_accumulator<Op, Acc, Init>) ||
                        (!accumulates_in<Op, Acc, Init> && accumulates_in<Op, Init, Acc>);
template <class Op, class Acc, class Init>
struct with_init {
  using type = std::conditional_t<init_is_wider<Op, Acc, Init>, Init, Acc>;
};
template <class Op, class Acc>
struct with_init<Op, Acc, Acc> {
  using type = Acc;
};
template <class Op, class Acc>
struct with_init<Op, Acc, no_init> {
  using type = Acc;
};
template <class Op, number Acc, number Init>
  requires(!std::same_as<Acc, Init>)
struct with_init<Op, Acc, Init>
    : std::common_type<
          std::conditional_t<is_narrow_float<Acc> || is_narrow_float<Init>, widened_t<Acc>, Acc>,
          std::conditional_t<is_narrow_float<Acc> || is_narrow_float<Init>, widened_t<Init>,
                             Init>> {};

// Op is normalized. Named is the caller's explicit choice or void.
template <class Named, class Op, class T, class Init>
struct accumulator {
  using type = Named;
};
template <class Op, class T, class Init>
struct accumulator<void, Op, T, Init> {
  using from_values = typename op_accumulator<Op, T>::type;
  using type = typename with_init<Op, from_values, Init>::type;
};
template <class Op, class T>
struct accumulator<void, Op, T, no_init> : op_accumulator<Op, T> {};
// For sums and products a narrow initial value is widened just as narrow values are.
template <class Op, class T, class Init>
  requires(!std::same_as<Init, no_init>) && (std::same_as<Op, plus> || std::same_as<Op, multiplies>)
struct accumulator<void, Op, T, Init> {
  using type = typename with_init<Op, widened_t<T>, widened_t<Init>>::type;
};

template <class Op, class X, class T>
using counted_value_t = std::conditional_t<std::is_void_v<X>, T, X>;

/// The accumulator of folding values of type T with the user's `Op` and an `Init` (or no_init).
template <class Named, class Op, class T, class Init>
using accumulator_t =
    typename accumulator<Named, normalized_op_t<Op>,
                         counted_value_t<Op, typename normalized_op<Op>::argument, T>, Init>::type;

}  // namespace tilefold::detail
