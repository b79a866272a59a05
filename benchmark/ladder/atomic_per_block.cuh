// SPDX-License-Identifier: Apache-2.0
//
// Rung 14: an atomic per block. Rung 12 without its second launch: blocks add their values to one
// address. With few blocks that costs next to nothing, but blocks finish in any order, so a sum of
// floats may differ from one run to the next.
#pragma once

#include "ops.cuh"
#include "rung.cuh"
#include "warp_shuffle.cuh"

namespace ladder {

template <class T>
__global__ void atomic_per_block_kernel(const T* items, index n, T* out) {
  const T value = fold_block(fold_strided(items, n, sum<T>{}), sum<T>{});
  if (threadIdx.x == 0) add_atomically(out, value);
}

/// *out = the sum of n >= 1 items. Blocks of whole warps; sums alone, for want of a general atomic.
template <class T>
void atomic_per_block(const T* items, index n, T* out, sum<T>, const setting& s,
                      int threads = 256) {
  require_items(n);
  require_warps(threads);
  const unsigned blocks = few_blocks_for(n, threads);
  check(cudaMemsetAsync(out, 0, sizeof(T), s.stream), "clearing the sum");
  atomic_per_block_kernel<<<blocks, threads, 0, s.stream>>>(items, n, out);
  check(cudaGetLastError(), "launch");
}

}  // namespace ladder
