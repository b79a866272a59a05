// SPDX-License-Identifier: Apache-2.0
//
// Infinities and NaNs among a warp's items, which exact sums note and leave out. Device code.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

/// Puts -0 in the place of infinities and NaNs, and returns the marks of those of all lanes.
template <class T, int N>
__device__ __forceinline__ unsigned take_not_finite(registers<T, N>& items) {
  std::uint64_t found = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const T x = items[i];
    if (x - x == 0) continue;
    found |= seen::other | seen::of_not_finite(x);
    items.put(i, static_cast<T>(-0.0));
  }
  return cuda::warp_or(static_cast<unsigned>(found));
}

}  // namespace tilefold::detail::cuda
