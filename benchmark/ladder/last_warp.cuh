// SPDX-License-Identifier: Apache-2.0
//
// Rung 5: the last warp unrolled. Once 64 values are left, one warp finishes without barriers and
// without a loop. The old trick left out all synchronisation, for a warp was in step with itself;
// since threads of a warp are scheduled independently that is a race. Shuffles say who waits for
// whom, and need no shared memory.
#pragma once

#include "first_add.cuh"
#include "rung.cuh"

namespace ladder {

/// In lane 0 the fold of 32 lanes' values.
template <class T, class Op>
__device__ T fold_warp(T value, Op op) {
#pragma unroll
  for (int stride = 16; stride > 0; stride /= 2) value = op(value, from_lane_above(value, stride));
  return value;
}

template <class T, class Op>
__global__ void last_warp_kernel(const T* items, index n, T* values, Op op) {
  T* const shared = shared_memory<T>();
  const unsigned t = threadIdx.x;
  const index i = index{blockIdx.x} * (2 * blockDim.x) + t;
  shared[t] = load_two(items, i, blockDim.x, n, op);
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 32; stride /= 2) {
    if (t < stride) shared[t] = op(shared[t], shared[t + stride]);
    __syncthreads();
  }
  if (t >= 32) return;
  const T value = fold_warp(op(shared[t], shared[t + 32]), op);
  if (t == 0) values[blockIdx.x] = value;
}

/// *out = the fold of n >= 1 items. Blocks of 64 threads or more.
template <class T, class Op>
void last_warp(const T* items, index n, T* out, Op op, const setting& s, int threads = 256) {
  require_items(n);
  require_threads(threads, 64);
  const std::size_t bytes = shared_bytes<T>(threads);
  repeat_passes(items, n, out, 2 * threads, s,
                [&](const T* from, index count, T* values, unsigned blocks) {
                  last_warp_kernel<<<blocks, threads, bytes, s.stream>>>(from, count, values, op);
                });
}

}  // namespace ladder
