// SPDX-License-Identifier: Apache-2.0
//
// Rung 1: interleaved addressing with modulo, an atomic at the end. Neighbours are added, then
// neighbours at distance 2, 4, 8. The threads that still work are scattered over all warps, so
// every warp takes every step, and the remainder is a slow division besides.
#pragma once

#include "ops.cuh"
#include "rung.cuh"

namespace ladder {

template <class T>
__global__ void interleaved_modulo_kernel(const T* items, index n, T* out) {
  T* const shared = shared_memory<T>();
  const unsigned t = threadIdx.x;
  const index i = index{blockIdx.x} * blockDim.x + t;
  shared[t] = i < n ? items[i] : T{0};
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (t % (2 * stride) == 0) shared[t] += shared[t + stride];
    __syncthreads();
  }
  if (t == 0) add_atomically(out, shared[0]);
}

/// *out = the sum of n >= 1 items. Sums alone, for want of a general atomic.
template <class T>
void interleaved_modulo(const T* items, index n, T* out, sum<T>, const setting& s,
                        int threads = 256) {
  require_items(n);
  require_threads(threads, 1);
  const unsigned blocks = blocks_for(n, threads);
  check(cudaMemsetAsync(out, 0, sizeof(T), s.stream), "clearing the sum");
  interleaved_modulo_kernel<<<blocks, threads, shared_bytes<T>(threads), s.stream>>>(items, n, out);
  check(cudaGetLastError(), "launch");
}

}  // namespace ladder
