// SPDX-License-Identifier: Apache-2.0
//
// transform_reduce: folds f(item), or f(item1, item2) of two ranges in step (a dot product).
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <tilefold/detail/verb.hpp>
#include <tilefold/dispatch.hpp>

namespace tilefold {

namespace detail {

// Where operands of two arithmetic types meet: no narrower than either, and wide enough that a
// product of int8 or half neither wraps nor rounds in those.
template <class A, class B>
struct meeting : std::common_type<widened_t<A>, widened_t<B>> {};
template <std::integral A, std::integral B>
requires(sizeof(A) < 4 && sizeof(B) < 4 && std::is_signed_v<A> != std::is_signed_v<B> &&
         !std::same_as<A, bool> && !std::same_as<B, bool>) struct meeting<A, B> {
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
    return Op{}(convert<common>(a), convert<common>(b));
  }
};

// The function that is called for items of types A and B when the caller names F.
template <class F, class A, class B>
struct pair_function {
  using type = F;
};
template <class F, class A, class B>
requires(normalized_op<F>::known) struct pair_function<F, A, B> {
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

}  // namespace detail

/// Folds what a function makes of the items, in the order of the range.
///
///     transform_reduce([exec,] first, last, init, op, f)              op(init, op over f(item))
///     transform_reduce([exec,] first1, last1, first2, init, op, f)    ... over f(item1, item2)
///     transform_reduce([exec,] first1, last1, first2, init)           dot product: plus,
///     multiplies
///
/// The two ranges may have different value types; the second must hold as many items as the first.
/// An f that is a functor of tilefold or std, such as the dot product's multiplies, is called in
/// the type where both meet, which is float for half and int32 for int8. f is called once per item,
/// in no particular order; what it returns is converted to the accumulator, chosen as in reduce()
/// with f's result as the value type. A product inside f is rounded before it is added, whatever
/// the compiler would like to fuse; multiplications followed by additions *inside* one f or op are
/// the caller's own (docs/numerics.md, strict_fp). Everything else, errors and the empty range
/// included, as for reduce().
template <class Acc = void, executor Exec, detail::item_iterator It, class Init, class Op, class F>
  requires detail::function_on<F, std::iter_value_t<It>>
auto transform_reduce(Exec&& exec, It first, It last, Init init, Op op, F f) {
  const auto n = detail::count_items("transform_reduce", first, last);
  return detail::fold_value<Acc>("transform_reduce", exec, n, init, op, f, first);
}

template <class Acc = void, executor Exec, detail::item_iterator It1, detail::item_iterator It2,
          class Init, class Op, class F>
  requires detail::function_on<detail::pair_function_t<F, It1, It2>, std::iter_value_t<It1>,
                               std::iter_value_t<It2>>
auto transform_reduce(Exec&& exec, It1 first1, It1 last1, It2 first2, Init init, Op op, F f) {
  const auto n = detail::count_items("transform_reduce", first1, last1);
  return detail::fold_value<Acc>("transform_reduce", exec, n, init, op,
                                 detail::pair_function_of<F, It1, It2>(f), first1, first2);
}

template <class Acc = void, executor Exec, detail::item_iterator It1, detail::item_iterator It2,
          class Init>
auto transform_reduce(Exec&& exec, It1 first1, It1 last1, It2 first2, Init init) {
  return tilefold::transform_reduce<Acc>(exec, first1, last1, first2, init, plus{}, multiplies{});
}

template <class Acc = void, class Dispatch = detail::default_dispatch, detail::item_iterator It,
          class... Rest>
  requires(sizeof...(Rest) >= 2)
auto transform_reduce(It first, It last, Rest... rest) {
  return Dispatch::template with_executor<Rest...>(first, [&](auto&& exec) {
    return tilefold::transform_reduce<Acc>(exec, first, last, rest...);
  });
}

}  // namespace tilefold
