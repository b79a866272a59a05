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
/// - Who: any thread, alone or with others, in any branch. Any number of threads, blocks and
///   kernels may deposit into one accumulator or many, all on one device.
/// - Result: equal items leave equal bytes, whatever the order, the shape of the launch and the
///   GPU: those of add() on one thread, NaN, infinities and -0 included. It can be read, merged,
///   added to and copied once all that deposit are done, and be deposited into again.
/// - `sum`: in memory of the device or its block's shared memory, made beforehand:
///   exact_accumulator<T>{}, whose bytes are all 0. Nothing but deposits may touch it meanwhile.
/// - x: of a type whose values all are exact in such a sum, as for add().
/// - Never full: up to 2^63 items, as add().
/// - Cost: for each item one or two 64-bit integer atomics that return a value, one for most items
///   around 1; rarely more, where a carry runs on. Four and more lanes of a warp that add items of
///   like size to one accumulator make one sum first. No workspace, no barrier.
template <class T, class U>
  requires detail::adds_exactly<U, T>
__device__ __forceinline__ void deposit(exact_accumulator<T>* sum, const U& x) {
  detail::cuda::deposit_into(detail::exact_access::state_of(*sum), detail::exact_item(x));
}

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
