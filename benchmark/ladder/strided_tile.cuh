// SPDX-License-Identifier: Apache-2.0
//
// Rung 13: a strided tile. A block of nt = 128 threads takes a tile of 128 * 8 items, thread t
// those at t, t + nt, t + 2 nt...: 8 independent loads under way before the first is used, each a
// full line for a warp, and no loop. The tiles' values are folded by 512 x 4, as often as it takes.
#pragma once

#include "rung.cuh"
#include "warp_shuffle.cuh"

namespace ladder {

template <int Nt, int Vt, class T, class Op>
__global__ void __launch_bounds__(Nt)
    strided_tile_kernel(const T* items, index n, T* values, Op op) {
  const index first = index{blockIdx.x} * (Nt * Vt) + threadIdx.x;
  T loaded[Vt];
#pragma unroll
  for (int k = 0; k < Vt; ++k) {
    loaded[k] = first + k * Nt < n ? items[first + k * Nt] : op.identity();
  }
  T mine = loaded[0];
#pragma unroll
  for (int k = 1; k < Vt; ++k) mine = op(mine, loaded[k]);
  const T value = fold_block(mine, op);
  if (threadIdx.x == 0) values[blockIdx.x] = value;
}

/// *out = the fold of n >= 1 items.
template <class T, class Op>
void strided_tile(const T* items, index n, T* out, Op op, const setting& s) {
  require_items(n);
  const unsigned blocks = blocks_for(n, 128 * 8);
  T* const values = blocks == 1 ? out : scratch_for<T>(s, 0, blocks);
  strided_tile_kernel<128, 8><<<blocks, 128, 0, s.stream>>>(items, n, values, op);
  check(cudaGetLastError(), "launch");
  if (blocks == 1) return;
  const std::size_t used = blocks * sizeof(T);
  const setting rest{values + blocks, s.scratch_bytes - used, s.stream};
  repeat_passes(values, index{blocks}, out, 512 * 4, rest,
                [&](const T* from, index count, T* to, unsigned grid) {
                  strided_tile_kernel<512, 4><<<grid, 512, 0, s.stream>>>(from, count, to, op);
                });
}

}  // namespace ladder
