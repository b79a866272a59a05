// SPDX-License-Identifier: Apache-2.0
//
// Building blocks for kernels of your own: the fold of what the lanes of a warp or the threads of a
// block hold, by the neighbour tree, so with the bits of reduce() over the same items. Device code.
// docs/kernels.md has examples.
#pragma once

#include <tilefold/config.hpp>

TILEFOLD_WARNINGS_OFF

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/cuda/in_kernel/kernel_fold.cuh>
#include <tilefold/detail/cuda/in_kernel/kernel_reducer.cuh>

namespace tilefold {

/// The accumulator and result type of `Op` on values of type T: the type that reduce() returns.
template <class T, class Op>
using folded_t = detail::accumulator_t<void, Op, T, detail::no_init>;

/// The accumulator type of reducer `R` (docs/reducers.md) for values of type T: that of
/// block_storage.
template <class T, class R>
using accumulated_t = typename detail::cuda::kernel_accumulator<R, T>::type;

/// Folds one value, or a run of neighbouring ones, of each lane of a warp.
///
///     warp_fold(value, op)                         op over the values of 32 lanes
///     warp_fold(value, count, op)                  of the first `count` items
///     warp_fold<Lanes>(...)                        in each group of 2, 4, 8, 16 or 32 lanes
///     warp_fold(values, ...)                       T values[Vt]: Vt = 1, 2, 4... items a lane
///     warp_fold(..., reducer)                      a public reducer in place of op: its result
///
/// - Items: lane l of its group holds item l; with an array, items l * Vt, ..., l * Vt + Vt - 1.
/// - Order: the neighbour tree (docs/order.md) over the items in that order. `op` is associative
///   and need not be commutative. It is never called with an item at or beyond `count`, so what
///   those lanes pass does not matter.
/// - Result: in every lane of the group. Its type is folded_t<T, Op>; a NaN is the canonical one.
///   It has the bits that reduce() returns for the same items.
/// - Participants: all lanes of the group, together, with the same `count`, from 0 to Lanes * Vt.
///   Different groups may call at different times. If a block's last warp is incomplete, pass a
///   `count`: lanes that do not exist have no items.
/// - `count` 0: the operator's identity; if it has none, an unspecified value.
/// - A reducer lifts each item, with its number among the items if it asks for the index, and its
///   result comes back: docs/kernels.md.
/// - Multiplications in `op` are not fused with additions of another call or of your own code
///   around the fold; those inside `op` are yours (docs/numerics.md).
/// - Needs no memory and no barrier. Work: Vt - 1 combinations, then log2(Lanes) and as many
///   shuffles, or one more with a `count` or an operator that does not commute; 32-bit integers
///   under an order-free operator take one instruction for 32 lanes.
template <int Lanes = 32, class Items, class Op>
__device__ __forceinline__ auto warp_fold(const Items& values, Op op) {
  constexpr int count = Lanes * detail::cuda::thread_items<Items>::count;
  return detail::cuda::reduce_warp<Lanes, 1, true>(__builtin_addressof(values), count, op);
}

template <int Lanes = 32, class Items, class Op>
__device__ __forceinline__ auto warp_fold(const Items& values, int count, Op op) {
  return detail::cuda::reduce_warp<Lanes, 1, false>(__builtin_addressof(values), count, op);
}

/// Several independent warp_folds at once, for far fewer shuffles.
///
///     warp_fold_each(values, op)                   T values[Folds]: values[k] is for fold k
///     warp_fold_each(values, count, op)            of the first `count` items of each
///     warp_fold_each<Lanes>(...)
///     warp_fold_each(values, ...)                  T values[Folds][Vt]: Vt items a lane and fold
///
/// Result, with P the power of two at or above Folds:
///
///     | lane of the group                       | holds the result of           |
///     |-----------------------------------------|-------------------------------|
///     | k < Folds                               | fold k                        |
///     | k + P, k + 2 P... below Lanes, k < Folds | fold k                        |
///     | any other                               | one of the folds, unspecified |
///
/// Folds <= Lanes; all lanes must be there. For a power of two of folds it takes
/// Folds - 1 + log2(Lanes / Folds) shuffles, where as many warp_folds take Folds * log2(Lanes): 9
/// in place of 40 for 8 folds by 32 lanes. All else as for warp_fold.
template <int Lanes = 32, class Items, int Folds, class Op>
__device__ __forceinline__ auto warp_fold_each(const Items (&values)[Folds], Op op) {
  constexpr int count = Lanes * detail::cuda::thread_items<Items>::count;
  return detail::cuda::reduce_warp<Lanes, Folds, true>(values, count, op);
}

template <int Lanes = 32, class Items, int Folds, class Op>
__device__ __forceinline__ auto warp_fold_each(const Items (&values)[Folds], int count, Op op) {
  return detail::cuda::reduce_warp<Lanes, Folds, false>(values, count, op);
}

/// Shared memory for block_fold in a block of Nt threads, 1 to 1024, that accumulates in `Acc`, and
/// for up to `Folds` folds at once. Place it where you like:
///
///     __shared__ tilefold::block_storage<256, float> storage;
///
///     extern __shared__ __align__(16) unsigned char memory[];  // sizeof(storage) of the launch
///     auto& storage = *reinterpret_cast<tilefold::block_storage<256, float>*>(memory);
///
/// Its contents are the library's. After a fold, __syncthreads() must come before the next fold or
/// anything else uses the memory. About Nt * sizeof(Acc) bytes if accumulators have 4 or 8 bytes,
/// else (and at least) Folds * sizeof(Acc) * Nt / 32.
template <int Nt, class Acc, int Folds = 1>
struct block_storage : detail::cuda::block_nodes<Nt, Acc, Folds> {
  static_assert(Nt >= 1 && Nt <= 1024, "tilefold: a block has 1 to 1024 threads");
  static_assert(Folds >= 1, "tilefold: block_storage is for one fold or more");
};

/// Folds one value, or a run of neighbouring ones, of each thread of a block.
///
///     block_fold(storage, value, op)               op over the values of all Nt threads
///     block_fold(storage, value, count, op)        of the first `count` items
///     block_fold(storage, values, ...)             T values[Vt]: Vt = 1, 2, 4... items a thread
///     block_fold(storage, ..., reducer)            a public reducer in place of op: its result
///
/// - `storage` is a block_storage<Nt, Acc>, and the block has exactly Nt threads: any number up to
///   1024, in one, two or three dimensions. Acc is the accumulator, as in reduce<Acc>(...);
///   folded_t<T, Op> is what reduce() would choose, accumulated_t<T, R> what a reducer wants.
/// - Items: thread t holds item t; with an array, items t * Vt, ..., t * Vt + Vt - 1. t is the
///   linear thread index, (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x.
/// - Result, of type Acc, a NaN being the canonical one, with the bits that reduce<Acc>() returns
///   for the same items:
///
///     | thread t  | holds                                |
///     |-----------|--------------------------------------|
///     | t < 32    | the result                           |
///     | any other | an unspecified value                 |
///
/// - Participants: all threads of the block, with the same `count`, from 0 to Nt * Vt.
/// - Order, items at or beyond `count`, a `count` of 0, and what is not fused: as for warp_fold.
/// - One barrier, none in blocks of a single warp. Work for accumulators of 4 or 8 bytes: each lane
///   of the first warp, or each pair of lanes, folds what a run of neighbouring threads holds, and
///   then the warp. For others, and with several folds at once: warp_fold in each warp, then
///   Nt / 32 - 1 combinations, or for large accumulators log2(Nt / 32), in the first.
template <int Nt, class Acc, int MostFolds, class Items, class Op>
__device__ __forceinline__ auto block_fold(block_storage<Nt, Acc, MostFolds>& storage,
                                           const Items& values, Op op) {
  constexpr int count = Nt * detail::cuda::thread_items<Items>::count;
  return detail::cuda::reduce_block<Nt, 1, true>(storage, __builtin_addressof(values), count, op);
}

template <int Nt, class Acc, int MostFolds, class Items, class Op>
__device__ __forceinline__ auto block_fold(block_storage<Nt, Acc, MostFolds>& storage,
                                           const Items& values, int count, Op op) {
  return detail::cuda::reduce_block<Nt, 1, false>(storage, __builtin_addressof(values), count, op);
}

/// Several independent block_folds at once: one barrier, and the few shuffles of warp_fold_each.
///
///     block_fold_each(storage, values, op)         T values[Folds]: values[k] is for fold k
///     block_fold_each(storage, values, count, op)  of the first `count` items of each
///     block_fold_each(storage, values, ...)        T values[Folds][Vt]: Vt items a thread and fold
///
/// `storage` is a block_storage<Nt, Acc, MostFolds> with MostFolds >= Folds; Folds <= 32 and <= Nt.
/// Result, with P the power of two at or above Folds:
///
///     | thread t                               | holds                         |
///     |----------------------------------------|-------------------------------|
///     | t < Folds                              | the result of fold t          |
///     | k + P, k + 2 P... below 32, k < Folds   | the result of fold k          |
///     | any other below 32                     | one of the folds, unspecified |
///     | t >= 32                                | an unspecified value          |
///
/// All else as for block_fold.
template <int Nt, class Acc, int MostFolds, class Items, int Folds, class Op>
__device__ __forceinline__ auto block_fold_each(block_storage<Nt, Acc, MostFolds>& storage,
                                                const Items (&values)[Folds], Op op) {
  constexpr int count = Nt * detail::cuda::thread_items<Items>::count;
  return detail::cuda::reduce_block<Nt, Folds, true>(storage, values, count, op);
}

template <int Nt, class Acc, int MostFolds, class Items, int Folds, class Op>
__device__ __forceinline__ auto block_fold_each(block_storage<Nt, Acc, MostFolds>& storage,
                                                const Items (&values)[Folds], int count, Op op) {
  return detail::cuda::reduce_block<Nt, Folds, false>(storage, values, count, op);
}

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
