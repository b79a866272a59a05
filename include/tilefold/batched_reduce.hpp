// SPDX-License-Identifier: Apache-2.0
//
// batched_reduce: one value of each of many arrays that were allocated by themselves.
// Backend-neutral; the executor folds.
#pragma once

#include <tilefold/detail/host/many_folds.hpp>

TILEFOLD_WARNINGS_OFF

#include <concepts>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/verbs/forest_verb.hpp>
#include <tilefold/dispatch.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/cuda/forest/launch_forest.cuh>
#endif

namespace tilefold {

namespace detail {

// Says in one sentence what is missing. Where it returns false nothing else is instantiated.
template <class Pointers, class Lengths>
constexpr bool describes_arrays() {
  constexpr bool arrays = item_iterator<std::iter_value_t<Pointers>>;
  constexpr bool lengths = std::integral<std::iter_value_t<Lengths>>;
  static_assert(arrays,
                "tilefold: batched_reduce takes an iterator over pointers, or other random-access "
                "iterators, one to the first item of each array");
  static_assert(lengths, "tilefold: lengths of arrays must be integers");
  return arrays && lengths;
}

}  // namespace detail

/// Folds every one of many arrays with an associative operator or a reducer, and writes array i's
/// value through out[i]. The arrays need not lie next to each other.
///
///     batched_reduce_into(exec, pointers, lengths, num_arrays, out, ...)
///
/// Array i has lengths[i] items from pointers[i] on. At the end stands, as in reduce(), nothing (a
/// sum), `op`, `init`, or `init, op`.
///
/// - Result: out[i] has the bits of reduce() over array i alone with the same arguments, whatever
///   the other arrays and their number. Indices that a reducer yields count from the start of the
///   array.
/// - Parameters: random-access iterators over pointers (or other random-access iterators that the
///   executor can follow; all of one type) and over integers of any type, in memory that the
///   executor reads, as are the arrays: for a CUDA executor device, managed or pinned memory.
///   Arrays may overlap. `out` takes num_arrays values.
/// - An array of no items, or of a negative number, gives the value of if_empty(), else `init`,
///   else the operator's identity; its pointer may be null. If there is none of them, the call does
///   not compile.
/// - Lengths and pointers are not validated, except that the host executor checks the first
/// pointer;
///   use checked() to validate all of them.
/// - On a CUDA executor the call is asynchronous in its stream and takes three launches, or one for
///   1024 arrays or fewer; everything must live until the stream has passed it. Workspace:
///   cuda_executor::segments_workspace_bytes().
/// - Work: as many combines as reduce() would need for each array.
/// - Throws as reduce() does; invalid_range_error also for a negative number of arrays.
template <class Acc = void, executor Exec, detail::item_iterator Pointers,
          detail::item_iterator Lengths, std::integral Count, detail::output Out, class... InitOp>
  requires(sizeof...(InitOp) <= 2)
void batched_reduce_into(Exec&& exec, Pointers pointers, Lengths lengths, Count num_arrays, Out out,
                         InitOp... init_op) {
  if constexpr (detail::describes_arrays<Pointers, Lengths>()) {
    using array = std::iter_value_t<Pointers>;
    const std::int64_t arrays =
        detail::count_of("batched_reduce", "the number of arrays", num_arrays);
    const auto make_forest = [&](auto& base, const auto& bound) {
      constexpr bool indexed = std::remove_cvref_t<decltype(bound)>::indexed;
      return detail::make_array_forest<indexed>(
          detail::read_only(base.accessible(pointers, "pointers")),
          detail::read_only(base.accessible(lengths, "lengths")), arrays);
    };
    detail::fold_trees_to<Acc, array>(exec, arrays, make_forest, out, init_op...);
  }
}

template <class Acc = void, class... Arguments>
  requires detail::not_indexed_at<0, Arguments...> || detail::not_indexed_at<1, Arguments...>
void batched_reduce_into(const Arguments&...) {
  detail::refuse_for<detail::refusal::not_indexed>();
}

/// Does the same synchronously. The executor may be left out: then the memory of `pointers`
/// decides, as in reduce(); that executor must be able to read the arrays.
template <class Acc = void, executor Exec, class... Arguments>
void batched_reduce(Exec&& exec, Arguments... arguments) {
  detail::wait_for(exec, [&] { tilefold::batched_reduce_into<Acc>(exec, arguments...); });
}

template <class Acc = void, class Dispatch = detail::default_dispatch,
          detail::item_iterator Pointers, class... Arguments>
void batched_reduce(Pointers pointers, Arguments... arguments) {
  Dispatch::template with_executor<Arguments...>(
      pointers, [&](auto&& exec) { tilefold::batched_reduce<Acc>(exec, pointers, arguments...); });
}

template <class Acc = void, class Dispatch = detail::default_dispatch, class... Arguments>
  requires detail::not_indexed_at<0, Arguments...>
void batched_reduce(const Arguments&... arguments) {
  tilefold::batched_reduce_into(arguments...);
}

TILEFOLD_TAKES_STAND_INS(batched_reduce)
TILEFOLD_TAKES_STAND_INS(batched_reduce_into)

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
