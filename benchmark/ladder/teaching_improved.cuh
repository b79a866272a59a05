// SPDX-License-Identifier: Apache-2.0
//
// Rung 11: the improved teaching kernel. 2 * threads items a block, all of them first copied to
// shared memory; then halves are folded onto each other, so that the threads at work stand together
// and touch neighbouring memory.
#pragma once

#include "rung.cuh"

namespace ladder {

template <class T, class Op>
__global__ void teaching_improved_kernel(const T* items, index n, T* values, Op op) {
  T* const shared = shared_memory<T>();
  const unsigned t = threadIdx.x;
  const index i = index{blockIdx.x} * (2 * blockDim.x) + t;
  shared[t] = i < n ? items[i] : op.identity();
  shared[t + blockDim.x] = i + blockDim.x < n ? items[i + blockDim.x] : op.identity();
  for (unsigned stride = blockDim.x; stride > 0; stride /= 2) {
    __syncthreads();
    if (t < stride) shared[t] = op(shared[t], shared[t + stride]);
  }
  if (t == 0) values[blockIdx.x] = shared[0];
}

/// *out = the fold of n >= 1 items.
template <class T, class Op>
void teaching_improved(const T* items, index n, T* out, Op op, const setting& s,
                       int threads = 256) {
  require_items(n);
  require_threads(threads, 1);
  const std::size_t bytes = shared_bytes<T>(2 * threads);
  repeat_passes(
      items, n, out, 2 * threads, s, [&](const T* from, index count, T* values, unsigned blocks) {
        teaching_improved_kernel<<<blocks, threads, bytes, s.stream>>>(from, count, values, op);
      });
}

}  // namespace ladder
