// SPDX-License-Identifier: Apache-2.0
//
// Exact sums that threads of your own kernels add to, in whatever order they come: in place of
// atomicAdd() on floats, whose result depends on it. Device code. docs/exact.md has an example.
#pragma once

#include <tilefold/config.hpp>

TILEFOLD_WARNINGS_OFF

#include <tilefold/detail/cuda/in_kernel/exact_deposit.cuh>
#include <tilefold/exact_accumulator.hpp>

namespace tilefold {

/// Adds x to *sum, as sum->add(x) does, from any number of threads at a time.
///
/// - Threads: any thread may call it, also in divergent code. Any number of threads, blocks and
///   kernels of one device may deposit into one accumulator or many.
/// - Result: equal items give equal bytes, for any order, launch and GPU: the bytes of add() on one
///   thread, also for NaN, infinities and -0. When all deposits are done, the accumulator can be
///   read, merged, added to, copied, and deposited into again.
/// - `sum`: in device memory or the block's shared memory, initialized before as
///   exact_accumulator<T>{}, whose bytes are all 0. Only deposits may access it meanwhile.
/// - x: of a type whose values are all exact in such a sum, as for add().
/// - Limit: 2^63 items, as for add().
/// - Cost: one or two 64-bit integer atomics with a return value per item, one for most items
///   around 1; rarely more, if a carry propagates. If four or more lanes of a warp add items of
///   similar magnitude to one accumulator, they are summed first. No workspace, no barrier.
template <class T, class U>
  requires detail::adds_exactly<U, T>
__device__ __forceinline__ void deposit(exact_accumulator<T>* sum, const U& x) {
  detail::cuda::deposit_into(detail::exact_access::state_of(*sum), detail::exact_item(x));
}

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
