// SPDX-License-Identifier: Apache-2.0
//
// reduce() on an executor that the call names. A program whose calls all do needs neither the other
// executors nor what chooses one: with cuda.cuh it reads nothing of the host, with host.hpp nothing
// of CUDA. reduce.hpp has the other calls, too.
#pragma once

#include <iterator>

#include <tilefold/detail/verbs/verb.hpp>

namespace tilefold {

/// Folds the items of [first, last) with an associative operator, in the order of the range.
///
///     reduce([exec,] first, last)              sum
///     reduce([exec,] first, last, op)          op over the items
///     reduce([exec,] first, last, init)        init + sum
///     reduce([exec,] first, last, init, op)    op(init, op over the items)
///     reduce([exec,] range, ...)               the same over a range
///     reduce<Acc>(...)                         computed and returned in type Acc
///
/// - Order: the neighbour tree (docs/order.md) on every executor, so equal input gives equal bits
///   wherever and however it runs. `op` need not be commutative.
/// - Parameters: random-access iterators; host memory for the host executor; device, managed or
///   pinned memory (or a device-callable iterator) for a CUDA executor. `op` is callable as
///   op(acc, acc), on the GPU if the call runs there. A stream or an execution policy may stand in
///   place of an executor (docs/streams.md). Without an executor the memory decides where
///   the call runs: for device and managed memory and thrust's device iterators on the GPU, also
///   inside adaptors of thrust and libcu++ (transform, zip, permutation, reverse); otherwise, and
///   for adaptors that hold a lambda which is not extended, on the host. GPU memory together with
///   host memory that the GPU cannot read throws memory_space_error.
/// - Result: the accumulator type, see accumulator.hpp; a NaN result is the canonical quiet NaN.
///   The call is synchronous.
/// - Empty range: the value of if_empty(op, value), else `init`, else the operator's identity (-0.0
///   for a floating sum), else empty_range_error.
/// - Workspace: the executor's. Work: n lifts, n - 1 combines.
/// - Throws invalid_range_error (last < first), null_pointer_error, empty_range_error,
///   memory_space_error, allocation_error, capture_error, cuda_error.
template <class Acc = void, executor Exec, detail::item_iterator It, class... InitOp>
  requires detail::init_or_op<InitOp...>
auto reduce(Exec&& exec, It first, It last, InitOp... init_op) {
  const auto n = detail::count_items<Exec>("reduce", first, last);
  return detail::fold_value<Acc>("reduce", exec, n,
                                 detail::read_arguments<std::iter_value_t<It>>(init_op...),
                                 detail::as_is{}, first);
}

template <class Acc = void, executor Exec, detail::item_range Range, class... InitOp>
  requires detail::init_or_op<InitOp...>
auto reduce(Exec&& exec, Range&& range, InitOp... init_op) {
  return tilefold::reduce<Acc>(exec, std::begin(range), std::end(range),
                               static_cast<InitOp&&>(init_op)...);
}

/// The same fold, written through `out` instead of returned.
///
///     reduce_into(exec, first, last, out)              sum
///     reduce_into(exec, first, last, out, op)
///     reduce_into(exec, first, last, out, init)
///     reduce_into(exec, first, last, out, init, op)
///     reduce_into(exec, range, out, ...)               the same over a range
///
/// On a CUDA executor the call is asynchronous in its stream: `out` is a device, managed or pinned
/// pointer, or a device-callable iterator; it and the input must live until the stream has passed
/// the call; after that *out is valid. The value is converted to the value type of `out`: from
/// floating point to an integer toward zero, clamped to its range, and NaN to 0. Nothing is written
/// if the call throws. Everything else as for reduce().
template <class Acc = void, executor Exec, detail::item_iterator It, detail::output Out,
          class... InitOp>
  requires detail::init_or_op<InitOp...>
void reduce_into(Exec&& exec, It first, It last, Out out, InitOp... init_op) {
  const auto n = detail::count_items<Exec>("reduce_into", first, last);
  detail::fold_to<Acc>("reduce_into", exec, n, out,
                       detail::read_arguments<std::iter_value_t<It>>(init_op...), detail::as_is{},
                       first);
}

template <class Acc = void, executor Exec, detail::item_range Range, detail::output Out,
          class... InitOp>
  requires detail::init_or_op<InitOp...>
void reduce_into(Exec&& exec, Range&& range, Out out, InitOp... init_op) {
  tilefold::reduce_into<Acc>(exec, std::begin(range), std::end(range), out,
                             static_cast<InitOp&&>(init_op)...);
}

}  // namespace tilefold
