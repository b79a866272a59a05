// SPDX-License-Identifier: Apache-2.0
//
// inner_product: transform_reduce of two ranges under its older name.
#pragma once

#include <tilefold/detail/verbs/second_range.hpp>
#include <tilefold/transform_reduce.hpp>

namespace tilefold {

namespace detail {

template <class... Arguments>
inline constexpr bool begins_with_range = false;
template <class First, class... More>
inline constexpr bool begins_with_range<First, More...> =
    executor<First> ? begins_with_range<More...> : item_range<First> && !std::is_array_v<First>;

}  // namespace detail

/// inner_product([exec,] first1, last1, first2, init) is the dot product of two ranges plus `init`;
/// inner_product(..., init, op, f) folds f(item1, item2) with op. The order is the neighbour tree,
/// not from left to right as in std::inner_product. Everything else as for transform_reduce().
template <class Acc = void, executor Exec, detail::item_iterator It1, detail::item_iterator It2,
          class Init, class... OpF>
  requires(sizeof...(OpF) == 0 || sizeof...(OpF) == 2)
auto inner_product(Exec&& exec, It1 first1, It1 last1, It2 first2, Init init, OpF... op_f) {
  return tilefold::transform_reduce<Acc>(exec, first1, last1, first2, init, op_f...);
}

template <class Acc = void, class Dispatch = detail::default_dispatch, detail::item_iterator It1,
          detail::item_iterator It2, class Init, class... OpF>
  requires(sizeof...(OpF) == 0 || sizeof...(OpF) == 2)
auto inner_product(It1 first1, It1 last1, It2 first2, Init init, OpF... op_f) {
  return Dispatch::template with_executor<OpF...>(
      first1,
      [&](auto&& exec) {
        return tilefold::inner_product<Acc>(exec, first1, last1, first2, init, op_f...);
      },
      first2);
}

template <class Acc = void, class Dispatch = detail::default_dispatch, class... Arguments>
  requires detail::refused_items<Arguments...> || detail::not_indexed_at<2, Arguments...> ||
           detail::begins_with_range<Arguments...>
auto inner_product(const Arguments&...) {
  constexpr bool ranges = detail::begins_with_range<Arguments...>;
  static_assert(
      !ranges,
      "tilefold: inner_product takes iterators, not ranges: (first1, last1, first2, init)");
  if constexpr (ranges) {
    return detail::no_result{};
  } else {
    return detail::refuse_sequences<Arguments...>();
  }
}

/// The same, written through `out`, as reduce_into() does.
template <class Acc = void, executor Exec, detail::item_iterator It1, detail::item_iterator It2,
          class Out, class Init, class... OpF>
  requires(sizeof...(OpF) == 0 || sizeof...(OpF) == 2)
void inner_product_into(Exec&& exec, It1 first1, It1 last1, It2 first2, Out out, Init init,
                        OpF... op_f) {
  tilefold::transform_reduce_into<Acc>(exec, first1, last1, first2, out, init, op_f...);
}

TILEFOLD_TAKES_STAND_INS(inner_product)
TILEFOLD_TAKES_STAND_INS(inner_product_into)

}  // namespace tilefold
