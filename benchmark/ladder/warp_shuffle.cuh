// SPDX-License-Identifier: Apache-2.0
//
// Rung 12: block reduce by warp shuffles. Each warp folds its 32 values in registers; one value a
// warp goes through shared memory, and the first warp folds those. Two barriers' worth of tree
// become one, whatever the block size.
#pragma once

#include "last_warp.cuh"
#include "rung.cuh"

namespace ladder {

/// In thread 0 the fold of the block's values; whole warps.
template <class T, class Op>
__device__ T fold_block(T mine, Op op) {
  __shared__ T of_warp[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  mine = fold_warp(mine, op);
  if (lane == 0) of_warp[warp] = mine;
  __syncthreads();
  if (warp != 0) return mine;
  return fold_warp(lane < blockDim.x / 32 ? of_warp[lane] : op.identity(), op);
}

/// The fold of what one thread of a striding grid sees.
template <class T, class Op>
__device__ T fold_strided(const T* items, index n, Op op) {
  T mine = op.identity();
  const index step = index{gridDim.x} * blockDim.x;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    mine = op(mine, items[i]);
  }
  return mine;
}

template <class T, class Op>
__global__ void warp_shuffle_kernel(const T* items, index n, T* values, Op op) {
  const T value = fold_block(fold_strided(items, n, op), op);
  if (threadIdx.x == 0) values[blockIdx.x] = value;
}

/// Blocks need not be a power of two, but made of whole warps.
inline void require_warps(int threads) {
  require(
      threads >= 32 && threads <= 1024 && threads % 32 == 0,
      "a block must be 1 to 32 warps of 32 threads, not " + std::to_string(threads) + " threads");
}

/// *out = the fold of n >= 1 items. Blocks of whole warps.
template <class T, class Op>
void warp_shuffle(const T* items, index n, T* out, Op op, const setting& s, int threads = 256) {
  require_items(n);
  require_warps(threads);
  const unsigned blocks = few_blocks_for(n, threads);
  T* const values = blocks == 1 ? out : scratch_for<T>(s, 0, blocks);
  warp_shuffle_kernel<<<blocks, threads, 0, s.stream>>>(items, n, values, op);
  if (blocks > 1) warp_shuffle_kernel<<<1, 1024, 0, s.stream>>>(values, index{blocks}, out, op);
  check(cudaGetLastError(), "launch");
}

}  // namespace ladder
