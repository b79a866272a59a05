// SPDX-License-Identifier: Apache-2.0
//
// Rung 6: completely unrolled. The block size is a template argument, so every loop is gone, and
// steps that a small block does not take are not even compiled. The host picks the kernel with a
// switch over the block sizes that there can be, 1 to 1024.
#pragma once

#include "first_add.cuh"
#include "rung.cuh"

namespace ladder {

/// In thread 0 the fold of shared[0] .. shared[2 * Stride - 1], for Stride >= 32 by the whole
/// block, below by the first warp with `mine` as what thread t has got so far.
template <int Stride, int Threads, class T, class Op>
__device__ T fold_halves(T* shared, T mine, Op op) {
  const unsigned t = threadIdx.x;
  if constexpr (Stride == 0) {
    return mine;
  } else if constexpr (Stride >= 32) {
    if (t < Stride) shared[t] = mine = op(mine, shared[t + Stride]);
    __syncthreads();
    return fold_halves<Stride / 2, Threads>(shared, mine, op);
  } else {
    if (t >= 32) return mine;
    constexpr int lanes = Threads < 32 ? Threads : 32;
    const T both = op(mine, from_lane_above(mine, Stride, lanes));
    return fold_halves<Stride / 2, Threads>(shared, both, op);
  }
}

template <int Threads, class T, class Op>
__global__ void unrolled_kernel(const T* items, index n, T* values, Op op) {
  __shared__ T shared[Threads];
  const unsigned t = threadIdx.x;
  const T mine = load_two(items, index{blockIdx.x} * (2 * Threads) + t, Threads, n, op);
  shared[t] = mine;
  __syncthreads();
  const T value = fold_halves<Threads / 2, Threads>(shared, mine, op);
  if (t == 0) values[blockIdx.x] = value;
}

/// Calls use(std::integral_constant<int, threads>{}).
template <class Use>
void with_constant_threads(int threads, Use use) {
  switch (threads) {
    case 1:
      return use(std::integral_constant<int, 1>{});
    case 2:
      return use(std::integral_constant<int, 2>{});
    case 4:
      return use(std::integral_constant<int, 4>{});
    case 8:
      return use(std::integral_constant<int, 8>{});
    case 16:
      return use(std::integral_constant<int, 16>{});
    case 32:
      return use(std::integral_constant<int, 32>{});
    case 64:
      return use(std::integral_constant<int, 64>{});
    case 128:
      return use(std::integral_constant<int, 128>{});
    case 256:
      return use(std::integral_constant<int, 256>{});
    case 512:
      return use(std::integral_constant<int, 512>{});
    case 1024:
      return use(std::integral_constant<int, 1024>{});
  }
  require_threads(threads, 1);  // none of the above, so this throws
}

/// *out = the fold of n >= 1 items.
template <class T, class Op>
void unrolled(const T* items, index n, T* out, Op op, const setting& s, int threads = 256) {
  require_items(n);
  with_constant_threads(threads, [&](auto constant) {
    constexpr int nt = decltype(constant)::value;
    repeat_passes(items, n, out, 2 * nt, s,
                  [&](const T* from, index count, T* values, unsigned blocks) {
                    unrolled_kernel<nt><<<blocks, nt, 0, s.stream>>>(from, count, values, op);
                  });
  });
}

}  // namespace ladder
