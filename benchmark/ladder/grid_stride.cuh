// SPDX-License-Identifier: Apache-2.0
//
// Rung 7: several elements per thread. As many blocks as fill the GPU stride through the whole
// array together; a thread folds its items in a register, and the tree in shared memory, which
// keeps most threads idle, is paid once per block and not once per 2 * threads items.
#pragma once

#include "first_add.cuh"
#include "last_warp.cuh"
#include "rung.cuh"

namespace ladder {

template <class T, class Op>
__global__ void grid_stride_kernel(const T* items, index n, T* values, Op op) {
  T* const shared = shared_memory<T>();
  const unsigned t = threadIdx.x;
  const index per_round = index{gridDim.x} * (2 * blockDim.x);
  T mine = op.identity();
  for (index i = index{blockIdx.x} * (2 * blockDim.x) + t; i < n; i += per_round) {
    mine = op(mine, load_two(items, i, blockDim.x, n, op));
  }
  shared[t] = mine;
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
void grid_stride(const T* items, index n, T* out, Op op, const setting& s, int threads = 256) {
  require_items(n);
  require_threads(threads, 64);
  const std::size_t bytes = shared_bytes<T>(threads);
  const unsigned blocks = few_blocks_for(n, 2 * threads);
  T* const values = blocks == 1 ? out : scratch_for<T>(s, 0, blocks);
  grid_stride_kernel<<<blocks, threads, bytes, s.stream>>>(items, n, values, op);
  if (blocks > 1) grid_stride_kernel<<<1, threads, bytes, s.stream>>>(values, blocks, out, op);
  check(cudaGetLastError(), "launch");
}

}  // namespace ladder
