// SPDX-License-Identifier: Apache-2.0
//
// The function of two ranges, as the multiplies of a dot product: where their value types differ or
// are narrow, a functor of tilefold or std is called in the type where both meet.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/op.hpp>

namespace tilefold::detail {

// Where operands of two arithmetic types meet: no narrower than either, and wide enough that a
// product of int8 or half neither wraps nor rounds in those.
template <class A, class B>
struct meeting : std::common_type<widened_t<A>, widened_t<B>> {};
template <class A, class B>
  requires requires { typename common_complex_t<widened_t<A>, widened_t<B>>; }
struct meeting<A, B> : common_complex<widened_t<A>, widened_t<B>> {};
template <integer A, integer B>
  requires(sizeof(A) < 4 && sizeof(B) < 4 && std::is_signed_v<A> != std::is_signed_v<B> &&
           !std::same_as<A, bool> && !std::same_as<B, bool>)
struct meeting<A, B> {
  using type = std::int32_t;
};

// A functor of ours as the function of two ranges, called where its operands meet; X is what
// std::multiplies<X> asks for, or void.
template <class Op, class X>
struct meeting_op {
  template <class A, class B>
    requires requires { typename meeting<A, B>::type; }
  TILEFOLD_HD auto operator()(const A& a, const B& b) const {
    using common =
        typename std::conditional_t<std::is_void_v<X>, meeting<A, B>, std::type_identity<X>>::type;
    return Op{}(detail::convert<common>(a), detail::convert<common>(b));
  }
};

// The function that is called for items of types A and B when the caller names F.
template <class F, class A, class B>
struct pair_function {
  using type = F;
};
template <class F, class A, class B>
  requires(normalized_op<F>::known)
struct pair_function<F, A, B> {
  using argument = typename normalized_op<F>::argument;
  static constexpr bool as_they_are =
      std::same_as<A, B> && std::same_as<A, counted_value_t<F, argument, widened_t<A>>>;
  using type =
      std::conditional_t<as_they_are, normalized_op_t<F>, meeting_op<normalized_op_t<F>, argument>>;
};

template <class F, class It1, class It2>
using pair_function_t =
    typename pair_function<F, std::iter_value_t<It1>, std::iter_value_t<It2>>::type;

template <class F, class It1, class It2>
pair_function_t<F, It1, It2> pair_function_of(const F& f) {
  if constexpr (normalized_op<F>::known) {
    return {};
  } else {
    return f;
  }
}

}  // namespace tilefold::detail
