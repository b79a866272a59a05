// SPDX-License-Identifier: Apache-2.0
//
// reduce: one value of a range. Backend-neutral; the executor folds. Here are the calls that name
// no executor, or what stands for one; reduce_on.hpp has those that name it.
#pragma once

#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/dispatch.hpp>
#include <tilefold/reduce_on.hpp>

namespace tilefold {

// In deferred.hpp.
template <std::integral T>
class deferred_size;

namespace detail {

/// Arguments that no call of reduce() has.
template <class... Arguments>
concept refused_by_reduce = refused_items<Arguments...> || (after_items<Arguments...> > 2) ||
                            (after_items<Arguments...> > 0 && executor_is_late<Arguments...>);

/// Arguments of reduce_into() in CUB's order, or without an executor.
template <class... Arguments>
inline constexpr bool out_of_order = false;
template <class First, class... More>
inline constexpr bool out_of_order<First, More...> = item_iterator<First> || item_range<First>;
template <executor Exec, item_iterator In, item_iterator Out, std::integral N, class... More>
  requires(!item_range<In>)
inline constexpr bool out_of_order<Exec, In, Out, N, More...> = true;

// Defined in segmented_reduce.hpp, with the primitives that it needs.
template <class Acc>
struct deferred_range;

}  // namespace detail

template <class Acc = void, class Dispatch = detail::default_dispatch, detail::item_iterator It,
          class... InitOp>
  requires detail::init_or_op<InitOp...>
auto reduce(It first, It last, InitOp... init_op) {
  return Dispatch::template with_executor<InitOp...>(
      first, [&](auto&& exec) { return tilefold::reduce<Acc>(exec, first, last, init_op...); });
}

template <class Acc = void, class Dispatch = detail::default_dispatch, detail::item_range Range,
          class... InitOp>
  requires detail::init_or_op<InitOp...> &&
           (!(std::same_as<InitOp, detail::range_iterator_t<Range>> || ...))
auto reduce(Range&& range, InitOp... init_op) {
  return tilefold::reduce<Acc, Dispatch>(std::begin(range), std::end(range),
                                         static_cast<InitOp&&>(init_op)...);
}

template <class Acc = void, class Dispatch = detail::default_dispatch, class... Arguments>
  requires detail::refused_by_reduce<Arguments...>
auto reduce(const Arguments&...) {
  if constexpr (!detail::refused_items<Arguments...> && detail::executor_is_first<Arguments...>()) {
    static_assert(detail::after_items<Arguments...> <= 2,
                  "tilefold: reduce takes at most (range, init, op); with a function of the items "
                  "it is transform_reduce(range, init, op, f)");
  }
  return detail::refuse<Arguments...>();
}

template <class Acc = void, class... Arguments>
  requires detail::refused_items<Arguments...> || detail::out_of_order<Arguments...>
void reduce_into(const Arguments&...) {
  constexpr bool in_order = !detail::out_of_order<Arguments...>;
  static_assert(
      in_order,
      "tilefold: the order of reduce_into is (executor or stream, first, last, out, init, "
      "op); CUB's calls, with in, out and n, are in tilefold/cub_compat.cuh");
  if constexpr (in_order) detail::refuse<Arguments...>();
}

/// reduce_into() of the first n items from `first` on, n deferred:
///
///     reduce_into(exec, first, deferred(n, most), out, ...)
///
/// Include tilefold/segmented_reduce.hpp, which also brings deferred().
///
/// - Result: the bits of reduce() over those items.
/// - No items give the value of if_empty(), else `init`, else the operator's identity; if there is
///   none of them, the call does not compile.
/// - On a CUDA executor it is asynchronous in its stream and takes one launch (accumulators above
///   512 bytes: three). Workspace: at most cuda_executor::segments_workspace_bytes() of one
///   segment, and less for small bounds, so reserve() that before a capture.
/// - Everything else as for reduce_into().
template <class Acc = void, executor Exec, detail::item_iterator It, std::integral T,
          detail::output Out, class... InitOp>
  requires detail::init_or_op<InitOp...>
void reduce_into(Exec&& exec, It first, deferred_size<T> n, Out out, InitOp... init_op) {
  constexpr bool included = requires { sizeof(detail::deferred_range<Acc>); };
  static_assert(included,
                "tilefold: reduce_into() of a deferred size needs "
                "#include <tilefold/segmented_reduce.hpp>");
  if constexpr (included) detail::deferred_range<Acc>::write(exec, first, n, out, init_op...);
}

TILEFOLD_TAKES_STAND_INS(reduce)
TILEFOLD_TAKES_STAND_INS(reduce_into)

}  // namespace tilefold
