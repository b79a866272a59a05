// SPDX-License-Identifier: Apache-2.0
//
// Sums, maxima and unions of one integer of each lane of a warp, the same in every lane. All lanes
// take part.
#pragma once

#include <tilefold/detail/cuda/base/words.cuh>

namespace tilefold::detail::cuda {

/// The bitwise or of x over the lanes of the warp.
TILEFOLD_D unsigned warp_or(unsigned x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_or_sync(full_warp, x);
#else
#pragma unroll
  for (int mask = 1; mask < warp_size; mask *= 2) x |= __shfl_xor_sync(full_warp, x, mask);
  return x;
#endif
}
TILEFOLD_D int warp_sum(int x) {
#pragma unroll
  for (int mask = 1; mask < warp_size; mask *= 2) x += __shfl_xor_sync(full_warp, x, mask);
  return x;
}
/// The sum over the lanes of a warp, in one instruction where there is one.
TILEFOLD_D int warp_sum_at_once(int x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(full_warp, x);
#else
  return warp_sum(x);
#endif
}
TILEFOLD_D int warp_max(int x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_max_sync(full_warp, x);
#else
#pragma unroll
  for (int mask = 1; mask < warp_size; mask *= 2) {
    const int other = __shfl_xor_sync(full_warp, x, mask);
    x = x < other ? other : x;
  }
  return x;
#endif
}

}  // namespace tilefold::detail::cuda
