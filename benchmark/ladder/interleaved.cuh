// SPDX-License-Identifier: Apache-2.0
//
// Rung 2: interleaved addressing without divergence. The same pairs, but worked on by the first
// threads, so that whole warps fall idle together. Threads now touch shared memory 2, 4, 8...
// apart, which puts more and more of a warp's accesses into one bank.
#pragma once

#include "rung.cuh"

namespace ladder {

template <class T, class Op>
__global__ void interleaved_kernel(const T* items, index n, T* values, Op op) {
  T* const shared = shared_memory<T>();
  const unsigned t = threadIdx.x;
  const index i = index{blockIdx.x} * blockDim.x + t;
  shared[t] = i < n ? items[i] : op.identity();
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned left = 2 * stride * t;
    if (left < blockDim.x) shared[left] = op(shared[left], shared[left + stride]);
    __syncthreads();
  }
  if (t == 0) values[blockIdx.x] = shared[0];
}

/// *out = the fold of n >= 1 items.
template <class T, class Op>
void interleaved(const T* items, index n, T* out, Op op, const setting& s, int threads = 256) {
  require_items(n);
  require_threads(threads, 2);
  const std::size_t bytes = shared_bytes<T>(threads);
  repeat_passes(items, n, out, threads, s,
                [&](const T* from, index count, T* values, unsigned blocks) {
                  interleaved_kernel<<<blocks, threads, bytes, s.stream>>>(from, count, values, op);
                });
}

}  // namespace ladder
