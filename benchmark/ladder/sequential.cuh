// SPDX-License-Identifier: Apache-2.0
//
// Rung 3: sequential addressing. Thread t takes what lies half the block further on, so neighbours
// in a warp touch neighbours in shared memory and no bank is asked twice. Items no longer meet in
// their order: from here on the operator must be commutative.
#pragma once

#include "rung.cuh"

namespace ladder {

template <class T, class Op>
__global__ void sequential_kernel(const T* items, index n, T* values, Op op) {
  T* const shared = shared_memory<T>();
  const unsigned t = threadIdx.x;
  const index i = index{blockIdx.x} * blockDim.x + t;
  shared[t] = i < n ? items[i] : op.identity();
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) shared[t] = op(shared[t], shared[t + stride]);
    __syncthreads();
  }
  if (t == 0) values[blockIdx.x] = shared[0];
}

/// *out = the fold of n >= 1 items.
template <class T, class Op>
void sequential(const T* items, index n, T* out, Op op, const setting& s, int threads = 256) {
  require_items(n);
  require_threads(threads, 2);
  const std::size_t bytes = shared_bytes<T>(threads);
  repeat_passes(items, n, out, threads, s,
                [&](const T* from, index count, T* values, unsigned blocks) {
                  sequential_kernel<<<blocks, threads, bytes, s.stream>>>(from, count, values, op);
                });
}

}  // namespace ladder
