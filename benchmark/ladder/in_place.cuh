// SPDX-License-Identifier: Apache-2.0
//
// Rung 9: one block, in place. What a first lesson shows: no shared memory, no second block, the
// tree grows in the input itself and destroys it. Good for exactly twice as many items as threads.
#pragma once

#include "rung.cuh"

namespace ladder {

template <class T, class Op>
__global__ void in_place_kernel(T* items, T* out, Op op) {
  const unsigned t = threadIdx.x;
  for (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {
    if (t % stride == 0) items[2 * t] = op(items[2 * t], items[2 * t + stride]);
    __syncthreads();
  }
  if (t == 0) *out = items[0];
}

/// *out = the fold of n = 2 * threads items, which it overwrites.
template <class T, class Op>
void in_place(T* items, index n, T* out, Op op, const setting& s, int threads = 256) {
  require_threads(threads, 1);
  require(n == 2 * index{threads}, "one block of " + std::to_string(threads) +
                                       " threads folds twice as many items in place, not " +
                                       std::to_string(n));
  in_place_kernel<<<1, threads, 0, s.stream>>>(items, out, op);
  check(cudaGetLastError(), "launch");
}

}  // namespace ladder
