// SPDX-License-Identifier: Apache-2.0
//
// Rung 8: two passes with an array of partials. The same kernel twice, always: blocks leave
// partials, one block folds them. The tree stays in shared memory down to one value: the last warp
// goes on there, in step with itself because it says so (__syncwarp between every read and write).
#pragma once

#include "rung.cuh"
#include "unrolled.cuh"

namespace ladder {

/// In thread 0 the fold of the last 64 values, by the first warp. All have to have read before
/// anyone writes, and the other way round.
template <class T, class Op>
__device__ T finish_in_warp(T* shared, Op op) {
  const unsigned t = threadIdx.x;
  T mine = op(shared[t], shared[t + 32]);
#pragma unroll
  for (unsigned stride = 16; stride > 0; stride /= 2) {
    __syncwarp();
    shared[t] = mine;
    __syncwarp();
    mine = op(mine, shared[t + stride]);
  }
  return mine;
}

template <int Threads, class T, class Op>
__global__ void two_pass_kernel(const T* items, index n, T* partials, Op op) {
  __shared__ T shared[Threads];
  const unsigned t = threadIdx.x;
  T mine = op.identity();
  for (index i = index{blockIdx.x} * Threads + t; i < n; i += index{gridDim.x} * Threads) {
    mine = op(mine, items[i]);
  }
  shared[t] = mine;
  __syncthreads();
#pragma unroll
  for (unsigned stride = Threads / 2; stride > 32; stride /= 2) {
    if (t < stride) shared[t] = op(shared[t], shared[t + stride]);
    __syncthreads();
  }
  if (t >= 32) return;
  const T value = finish_in_warp(shared, op);
  if (t == 0) partials[blockIdx.x] = value;
}

/// *out = the fold of n >= 1 items. Blocks of 64 threads or more.
template <class T, class Op>
void two_pass(const T* items, index n, T* out, Op op, const setting& s, int threads = 256) {
  require_items(n);
  require_threads(threads, 64);
  with_constant_threads(threads, [&](auto constant) {
    constexpr int nt = decltype(constant)::value;
    if constexpr (nt >= 64) {
      const unsigned blocks = few_blocks_for(n, nt);
      T* const partials = scratch_for<T>(s, 0, blocks);
      two_pass_kernel<nt><<<blocks, nt, 0, s.stream>>>(items, n, partials, op);
      two_pass_kernel<nt><<<1, nt, 0, s.stream>>>(partials, index{blocks}, out, op);
      check(cudaGetLastError(), "launch");
    }
  });
}

}  // namespace ladder
