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
template <class F, class Init, class Op, class It>
concept function_or_thrusts = function_or_needs_const<F, std::iter_value_t<It>> ||
                              in_order_of_thrust<Init, Op, F, std::iter_value_t<It>>;

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
/// particular order (top_k and bottom_k on a GPU, and reduce_by_key's iterators, may read an item
/// again). Its result is converted to the accumulator, which is chosen as in reduce() with f's
/// result as the value type. A product that f returns is rounded before it is added, even if the
/// compiler could fuse the two; the library cannot prevent fusion of a multiplication and an
/// addition *inside* one f or op (docs/numerics.md, strict_fp). Everything else, errors and the
/// empty range included, as for reduce().
template <class Acc = void, executor Exec, detail::item_iterator It, class Init, class Op, class F>
auto transform_reduce(Exec&& exec, It first, It last, Init init, Op op, F f) {
  if constexpr (!detail::in_order<Init, Op, F, std::iter_value_t<It>>()) {
    return detail::no_result{};
  } else {
    const auto n = detail::count_items<Exec>("transform_reduce", first, last);
    return detail::fold_value<Acc>("transform_reduce", exec, n,
                                   detail::read_arguments<std::iter_value_t<It>>(init, op), f,
                                   first);
  }
}

template <class Acc = void, executor Exec, detail::item_iterator It1, detail::item_iterator It2,
          class Init, class Op, class F>
auto transform_reduce(Exec&& exec, It1 first1, It1 last1, It2 first2, Init init, Op op, F f) {
  const auto n = detail::count_items<Exec>("transform_reduce", first1, last1);
  return detail::fold_value<Acc>("transform_reduce", exec, n, detail::init_and_op{init, op},
                                 detail::pair_function_of<F, It1, It2>(f), first1, first2);
}

template <class Acc = void, executor Exec, detail::item_iterator It1, detail::item_iterator It2,
          class InitOrReducer>
auto transform_reduce(Exec&& exec, It1 first1, It1 last1, It2 first2, InitOrReducer last_argument) {
  if constexpr (reducer<InitOrReducer>) {
    const auto n = detail::count_items<Exec>("transform_reduce", first1, last1);
    return detail::fold_value<Acc>("transform_reduce", exec, n,
                                   detail::init_and_op{detail::no_init{}, last_argument},
                                   detail::as_is{}, first1, first2);
  } else {
    return tilefold::transform_reduce<Acc>(exec, first1, last1, first2, last_argument, plus{},
                                           multiplies{});
  }
}

template <class Acc = void, executor Exec, detail::item_iterator It, class Op, class F>
  requires detail::function_or_needs_const<F, std::iter_value_t<It>>
auto transform_reduce(Exec&& exec, It first, It last, Op op, F f) {
  const auto n = detail::count_items<Exec>("transform_reduce", first, last);
  return detail::fold_value<Acc>("transform_reduce", exec, n,
                                 detail::init_and_op{detail::no_init{}, op}, f, first);
}

// The constraint on f tells an array, followed by anything, from the first of two iterators.
template <class Acc = void, executor Exec, detail::item_range Range, class Init, class Op, class F>
  requires detail::function_or_thrusts<F, Init, Op, detail::range_iterator_t<Range>>
auto transform_reduce(Exec&& exec, Range&& range, Init init, Op op, F f) {
  return tilefold::transform_reduce<Acc>(exec, std::begin(range), std::end(range),
                                         static_cast<Init&&>(init), static_cast<Op&&>(op),
                                         static_cast<F&&>(f));
}

template <class Acc = void, executor Exec, detail::item_range Range, class Op, class F>
  requires detail::function_or_needs_const<F, std::iter_value_t<detail::range_iterator_t<Range>>>
auto transform_reduce(Exec&& exec, Range&& range, Op op, F f) {
  return tilefold::transform_reduce<Acc>(exec, std::begin(range), std::end(range),
                                         static_cast<Op&&>(op), static_cast<F&&>(f));
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
          class Init, class Op, class F>
  requires detail::function_or_thrusts<F, Init, Op, detail::range_iterator_t<Range>> &&
           (!std::same_as<Init, detail::range_iterator_t<Range>>)
auto transform_reduce(Range&& range, Init init, Op op, F f) {
  return tilefold::transform_reduce<Acc, Dispatch>(std::begin(range), std::end(range),
                                                   static_cast<Init&&>(init), static_cast<Op&&>(op),
                                                   static_cast<F&&>(f));
}

template <class Acc = void, class Dispatch = detail::default_dispatch, detail::item_range Range,
          class Op, class F>
  requires detail::function_or_needs_const<F, std::iter_value_t<detail::range_iterator_t<Range>>>
auto transform_reduce(Range&& range, Op op, F f) {
  return tilefold::transform_reduce<Acc, Dispatch>(std::begin(range), std::end(range),
                                                   static_cast<Op&&>(op), static_cast<F&&>(f));
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
template <class Acc = void, executor Exec, detail::item_iterator It, detail::output Out, class Init,
          class Op, class F>
void transform_reduce_into(Exec&& exec, It first, It last, Out out, Init init, Op op, F f) {
  if constexpr (detail::in_order<Init, Op, F, std::iter_value_t<It>>()) {
    const auto n = detail::count_items<Exec>("transform_reduce_into", first, last);
    detail::fold_to<Acc>("transform_reduce_into", exec, n, out,
                         detail::read_arguments<std::iter_value_t<It>>(init, op), f, first);
  }
}

template <class Acc = void, executor Exec, detail::item_iterator It1, detail::item_iterator It2,
          detail::output Out, class Init, class Op, class F>
void transform_reduce_into(Exec&& exec, It1 first1, It1 last1, It2 first2, Out out, Init init,
                           Op op, F f) {
  const auto n = detail::count_items<Exec>("transform_reduce_into", first1, last1);
  detail::fold_to<Acc>("transform_reduce_into", exec, n, out, detail::init_and_op{init, op},
                       detail::pair_function_of<F, It1, It2>(f), first1, first2);
}

template <class Acc = void, executor Exec, detail::item_iterator It1, detail::item_iterator It2,
          detail::output Out, class Init>
  requires(!reducer<Init>)
void transform_reduce_into(Exec&& exec, It1 first1, It1 last1, It2 first2, Out out, Init init) {
  tilefold::transform_reduce_into<Acc>(exec, first1, last1, first2, out, init, plus{},
                                       multiplies{});
}

template <class Acc = void, executor Exec, detail::item_range Range, detail::output Out, class Init,
          class Op, class F>
  requires detail::function_or_thrusts<F, Init, Op, detail::range_iterator_t<Range>>
void transform_reduce_into(Exec&& exec, Range&& range, Out out, Init init, Op op, F f) {
  tilefold::transform_reduce_into<Acc>(exec, std::begin(range), std::end(range), out,
                                       static_cast<Init&&>(init), static_cast<Op&&>(op),
                                       static_cast<F&&>(f));
}

template <class Acc = void, executor Exec, detail::item_iterator It1, detail::item_iterator It2,
          detail::output Out, reducer R>
void transform_reduce_into(Exec&& exec, It1 first1, It1 last1, It2 first2, Out out, R r) {
  const auto n = detail::count_items<Exec>("transform_reduce_into", first1, last1);
  detail::fold_to<Acc>("transform_reduce_into", exec, n, out,
                       detail::init_and_op{detail::no_init{}, r}, detail::as_is{}, first1, first2);
}

template <class Acc = void, executor Exec, detail::item_iterator It, detail::output Out, class Op,
          class F>
  requires detail::function_or_needs_const<F, std::iter_value_t<It>>
void transform_reduce_into(Exec&& exec, It first, It last, Out out, Op op, F f) {
  const auto n = detail::count_items<Exec>("transform_reduce_into", first, last);
  detail::fold_to<Acc>("transform_reduce_into", exec, n, out,
                       detail::init_and_op{detail::no_init{}, op}, f, first);
}

template <class Acc = void, executor Exec, detail::item_range Range, detail::output Out, class Op,
          class F>
  requires detail::function_or_needs_const<F, std::iter_value_t<detail::range_iterator_t<Range>>>
void transform_reduce_into(Exec&& exec, Range&& range, Out out, Op op, F f) {
  tilefold::transform_reduce_into<Acc>(exec, std::begin(range), std::end(range), out,
                                       static_cast<Op&&>(op), static_cast<F&&>(f));
}

template <class Acc = void, class... Arguments>
  requires detail::refused_items<Arguments...>
void transform_reduce_into(const Arguments&...) {
  detail::refuse<Arguments...>();
}

/// The same with a stream or an execution policy in place of an executor: transform_reduce(stream,
/// ...), transform_reduce(thrust::device, ...), transform_reduce(std::execution::par, ...).
/// docs/streams.md lists them all.
template <class Acc = void, class Dispatch = detail::default_dispatch, detail::stand_in Handle,
          class... Arguments>
auto transform_reduce(const Handle& handle, Arguments&&... arguments) {
  return Dispatch::with_stand_in(handle, [&](auto&& exec) {
    return tilefold::transform_reduce<Acc>(exec, static_cast<Arguments&&>(arguments)...);
  });
}

template <class Acc = void, class Dispatch = detail::default_dispatch, detail::stand_in Handle,
          class... Arguments>
auto transform_reduce_into(const Handle& handle, Arguments&&... arguments) {
  return Dispatch::with_stand_in(handle, [&](auto&& exec) {
    return tilefold::transform_reduce_into<Acc>(exec, static_cast<Arguments&&>(arguments)...);
  });
}

}  // namespace tilefold
