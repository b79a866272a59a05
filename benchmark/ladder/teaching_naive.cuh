// SPDX-License-Identifier: Apache-2.0
//
// Rung 10: the naive teaching kernel. 2 * threads items a block, as it stands in many a lecture:
// no check of bounds, so n must be whole blocks, and the working threads thin out by modulo. What
// the blocks leave is folded by the improved kernel.
#pragma once

#include "rung.cuh"
#include "teaching_improved.cuh"

namespace ladder {

template <class T, class Op>
__global__ void teaching_naive_kernel(const T* items, T* values, Op op) {
  T* const shared = shared_memory<T>();
  const unsigned t = threadIdx.x;
  const index first = index{blockIdx.x} * (2 * blockDim.x);
  shared[t] = items[first + t];
  shared[t + blockDim.x] = items[first + blockDim.x + t];
  for (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    if (t % stride == 0) shared[2 * t] = op(shared[2 * t], shared[2 * t + stride]);
  }
  if (t == 0) values[blockIdx.x] = shared[0];
}

/// *out = the fold of n >= 1 items, a multiple of 2 * threads.
template <class T, class Op>
void teaching_naive(const T* items, index n, T* out, Op op, const setting& s, int threads = 256) {
  require_items(n);
  require_threads(threads, 1);
  const index per_block = 2 * index{threads};
  require(n % per_block == 0,
          std::to_string(n) + " items are not whole blocks of " + std::to_string(per_block));
  const std::size_t bytes = shared_bytes<T>(2 * threads);
  const unsigned blocks = blocks_for(n, per_block);
  T* const values = blocks == 1 ? out : scratch_for<T>(s, 0, blocks);
  teaching_naive_kernel<<<blocks, threads, bytes, s.stream>>>(items, values, op);
  check(cudaGetLastError(), "launch");
  if (blocks == 1) return;
  const std::size_t used = blocks * sizeof(T);
  const setting rest{values + blocks, s.scratch_bytes - used, s.stream};
  teaching_improved(values, blocks, out, op, rest, threads);
}

}  // namespace ladder
