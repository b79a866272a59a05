// SPDX-License-Identifier: Apache-2.0
//
// transform_reduce: folds f(item), or f(item1, item2) of two ranges in step (a dot product).
#pragma once

#include <tilefold/detail/core/pair_function.hpp>
#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/dispatch.hpp>

namespace tilefold {

namespace detail {

/// Whether thrust's order is meant, (first, last, f, init, op): the first argument after the range
/// is called with an item, and the last is not.
template <class Init, class Op, class F, class T>
inline constexpr bool in_order_of_thrust =
    !reducer<Op> && function_on<Init, T> && !function_or_needs_const<F, T>;

// For overloads, as function_or_needs_const.
template <class F, class Init, class Op, class T>
concept function_or_thrusts = function_or_needs_const<F, T> || in_order_of_thrust<Init, Op, F, T>;

/// Arguments that no call of transform_reduce() has.
template <class... Arguments>
concept refused_by_transform = refused_items<Arguments...> || after_items<Arguments...> == 1 ||
                               (after_items<Arguments...> > 1 && executor_is_late<Arguments...>);

template <class Init, class Op, class F, class T>
constexpr bool in_order() {
  constexpr bool thrusts = in_order_of_thrust<Init, Op, F, T>;
  static_assert(
      !thrusts,
      "tilefold: the order of transform_reduce is (first, last, init, op, f); "
      "tilefold::thrust_compat::transform_reduce takes thrust's order, (first, last, f, init, op)");
  return !thrusts;
}

/// Whether the arguments after one range are (init, op, f), or (op, f) with a function of its
/// items.
template <class T, class... Rest>
inline constexpr bool transforms_items = sizeof...(Rest) == 3;
template <class T, class Op, class F>
inline constexpr bool transforms_items<T, Op, F> = function_or_needs_const<F, T>;

/// As transforms_items, where the range is one argument. An array is also the first of two
/// iterators, so f is looked at.
template <class T, class... Rest>
inline constexpr bool transforms_range = transforms_items<T, Rest...>;
template <class T, class Init, class Op, class F>
inline constexpr bool transforms_range<T, Init, Op, F> = function_or_thrusts<F, Init, Op, T>;

/// What the arguments after the items say: what bind() takes, and the function of the items.
template <class Fold, class F>
struct transform_arguments {
  Fold fold;
  F function;
};
template <class Fold, class F>
transform_arguments(Fold, F) -> transform_arguments<Fold, F>;

/// Reads (init, op, f) or (op, f) for items of type T.
template <class T, class Init, class Op, class F>
auto read_transform(const Init& init, const Op& op, const F& f) {
  if constexpr (detail::in_order<Init, Op, F, T>() && detail::copies<F>()) {
    return transform_arguments{detail::read_arguments<T>(init, op), f};
  } else {
    return transform_arguments{no_result{}, as_is{}};
  }
}
template <class T, class Op, class F>
auto read_transform(const Op& op, const F& f) {
  return detail::read_transform<T>(no_init{}, op, f);
}

/// Reads (init, op, f), (init) or (reducer) for two ranges in step.
template <class It1, class It2, class Init, class Op, class F>
auto read_transform_of_two(const Init& init, const Op& op, const F& f) {
  return transform_arguments{init_and_op{init, op}, detail::pair_function_of<F, It1, It2>(f)};
}
template <class It1, class It2, class InitOrReducer>
auto read_transform_of_two(const InitOrReducer& last) {
  if constexpr (reducer<InitOrReducer>) {
    return transform_arguments{init_and_op{no_init{}, last}, as_is{}};
  } else {
    return detail::read_transform_of_two<It1, It2>(last, plus{}, multiplies{});
  }
}

}  // namespace detail

/// Folds the results of a function of the items, in the order of the range.
///
///     transform_reduce([exec,] first, last, init, op, f)              op(init, op over f(item))
///     transform_reduce([exec,] first1, last1, first2, init, op, f)    ... over f(item1, item2)
///     transform_reduce([exec,] first1, last1, first2, init)           dot product
///     transform_reduce([exec,] first1, last1, first2, reducer)        a reducer of two ranges
///     transform_reduce([exec,] first, last, op, f)                    op over f(item)
///     transform_reduce([exec,] range, [init,] op, f)                  of one range
///
/// (Thrust's order is first, last, f, init, op: thrust_compat.hpp has it.) `op` may be a reducer.
/// Without `init` an empty range gives the identity of `op`, as in reduce(). The two ranges may
/// have different value types; the second must hold as many items as the first. An f that is a
/// functor of tilefold or std, such as the dot product's multiplies, is called in the common type
/// of both items, which is float for half and int32 for int8. f is called once per item, in no
/// particular order (reduce_by_key's iterators may read an item again, and on a GPU so may top_k,
/// bottom_k, and means of doubles that leave their range or are not finite). Its result is
/// converted to the accumulator, which is chosen as in reduce() with f's result as the value type.
/// A product that f returns is rounded before it is added, even if the compiler could fuse the two;
/// the library cannot prevent fusion of a multiplication and an addition *inside* one f or op
/// (docs/numerics.md, strict_fp). Everything else, errors and the empty range included, as for
/// reduce().
template <class Acc = void, executor Exec, detail::item_iterator It, class... Rest>
  requires detail::transforms_items<std::iter_value_t<It>, Rest...>
auto transform_reduce(Exec&& exec, It first, It last, Rest... rest) {
  const auto n = detail::count_items<Exec>("transform_reduce", first, last);
  const auto read = detail::read_transform<std::iter_value_t<It>>(rest...);
  return detail::fold_value<Acc>("transform_reduce", exec, n, read.fold, read.function, first);
}

template <class Acc = void, executor Exec, detail::item_iterator It1, detail::item_iterator It2,
          class... Rest>
  requires(sizeof...(Rest) == 1 || sizeof...(Rest) == 3)
auto transform_reduce(Exec&& exec, It1 first1, It1 last1, It2 first2, Rest... rest) {
  const auto n = detail::count_items<Exec>("transform_reduce", first1, last1);
  const auto read = detail::read_transform_of_two<It1, It2>(rest...);
  return detail::fold_value<Acc>("transform_reduce", exec, n, read.fold, read.function, first1,
                                 first2);
}

template <class Acc = void, executor Exec, detail::item_range Range, class... Rest>
  requires detail::transforms_range<std::iter_value_t<detail::range_iterator_t<Range>>, Rest...>
auto transform_reduce(Exec&& exec, Range&& range, Rest... rest) {
  return tilefold::transform_reduce<Acc>(exec, std::begin(range), std::end(range),
                                         static_cast<Rest&&>(rest)...);
}

template <class Acc = void, class Dispatch = detail::default_dispatch, detail::item_iterator It,
          class... Rest>
  requires(sizeof...(Rest) >= 2) && (!(detail::names_executor<Rest> || ...))
auto transform_reduce(It first, It last, Rest... rest) {
  return Dispatch::template with_executor<Rest...>(
      first,
      [&](auto&& exec) { return tilefold::transform_reduce<Acc>(exec, first, last, rest...); },
      rest...);
}

template <class Acc = void, class Dispatch = detail::default_dispatch, detail::item_range Range,
          class... Rest>
  requires detail::transforms_range<std::iter_value_t<detail::range_iterator_t<Range>>, Rest...>
auto transform_reduce(Range&& range, Rest... rest) {
  return tilefold::transform_reduce<Acc, Dispatch>(std::begin(range), std::end(range),
                                                   static_cast<Rest&&>(rest)...);
}

template <class Acc = void, class Dispatch = detail::default_dispatch, class... Arguments>
  requires detail::refused_by_transform<Arguments...>
auto transform_reduce(const Arguments&...) {
  if constexpr (!detail::refused_items<Arguments...> && detail::executor_is_first<Arguments...>()) {
    static_assert(detail::after_items<Arguments...> != 1,
                  "tilefold: transform_reduce takes (range, op, f) or (range, init, op, f): an "
                  "operator such as tilefold::plus{} before the function");
  }
  return detail::refuse<Arguments...>();
}

/// The same folds, written through `out` instead of returned, as reduce_into() does.
///
///     transform_reduce_into(exec, first, last, out, init, op, f)
///     transform_reduce_into(exec, first1, last1, first2, out, init, op, f)
///     transform_reduce_into(exec, first1, last1, first2, out, init)
///     transform_reduce_into(exec, first1, last1, first2, out, reducer)
///     transform_reduce_into(exec, first, last, out, op, f)
///     transform_reduce_into(exec, range, out, [init,] op, f)
template <class Acc = void, executor Exec, detail::item_iterator It, detail::output Out,
          class... Rest>
  requires detail::transforms_items<std::iter_value_t<It>, Rest...>
void transform_reduce_into(Exec&& exec, It first, It last, Out out, Rest... rest) {
  const auto n = detail::count_items<Exec>("transform_reduce_into", first, last);
  const auto read = detail::read_transform<std::iter_value_t<It>>(rest...);
  detail::fold_to<Acc>("transform_reduce_into", exec, n, out, read.fold, read.function, first);
}

template <class Acc = void, executor Exec, detail::item_iterator It1, detail::item_iterator It2,
          detail::output Out, class... Rest>
  requires(sizeof...(Rest) == 1 || sizeof...(Rest) == 3)
void transform_reduce_into(Exec&& exec, It1 first1, It1 last1, It2 first2, Out out, Rest... rest) {
  const auto n = detail::count_items<Exec>("transform_reduce_into", first1, last1);
  const auto read = detail::read_transform_of_two<It1, It2>(rest...);
  detail::fold_to<Acc>("transform_reduce_into", exec, n, out, read.fold, read.function, first1,
                       first2);
}

template <class Acc = void, executor Exec, detail::item_range Range, detail::output Out,
          class... Rest>
  requires detail::transforms_range<std::iter_value_t<detail::range_iterator_t<Range>>, Rest...>
void transform_reduce_into(Exec&& exec, Range&& range, Out out, Rest... rest) {
  tilefold::transform_reduce_into<Acc>(exec, std::begin(range), std::end(range), out,
                                       static_cast<Rest&&>(rest)...);
}

template <class Acc = void, class... Arguments>
  requires detail::refused_items<Arguments...>
void transform_reduce_into(const Arguments&...) {
  detail::refuse<Arguments...>();
}

TILEFOLD_TAKES_STAND_INS(transform_reduce)
TILEFOLD_TAKES_STAND_INS(transform_reduce_into)

}  // namespace tilefold
