// SPDX-License-Identifier: Apache-2.0
//
// A warp's exact sum of a few items that are near each other, at once: for short ranges, where
// latencies are all that counts. A lane adds its 8 items, as doubles, into two running sums:
//
//     sum 0     begins at 1.5 * 2^(u + 52): takes an item rounded to a multiple of 2^u
//     sum 1     begins at 1.5 * 2^(u + 3): what is left of it, a multiple of 2^(u - 49)
//     u         so that the lane's items cannot sum up to 2^(u + 51)
//
// The bits of the sums less those of their beginnings are integers; the warp adds them up, and ten
// lanes bring their pieces to the places of the total. Device code.
#pragma once

#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/exact/limbs.cuh>
#include <tilefold/detail/cuda/exact/wide_by_warp.cuh>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

/// Adds N items of every lane to `places`, if they are finite and near each other; returns whether
/// they are, and what they are in `seen_here`. All lanes.
template <class State, int N>
__device__ __forceinline__ bool add_near(wide_places<State>& places, unsigned& seen_here,
                                         const registers<float, N>& items, int lane) {
  static_assert(N <= 8);
  constexpr int digits = 23;  // below the first one
  constexpr int most_spread = 96 - digits;
  unsigned most = 0;
  unsigned least = ~0u;  // of those that are not 0, less 1
  int all = -1;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const auto x = static_cast<double>(items[i]);
    const int high = __double2hiint(x);
    const unsigned size = static_cast<unsigned>(high) & 0x7fffffffu;
    most = (max)(most, size);
    least = (min)(least, size - 1);
    all &= high;
  }
  const bool other = __any_sync(full_warp, all >= 0 || most != 0);
  const int top = cuda::warp_max(static_cast<int>(most)) >> 20;
  const int bottom = (-cuda::warp_max(-static_cast<int>(least & 0x7fffffffu)) >> 20);
  // Far from the ends of doubles, where anchors are none; only zeros go the other way, too.
  if (top > 2040 || top < 128 || top - bottom > most_spread) return false;
  seen_here = static_cast<unsigned>(other ? seen::other : seen::minus_zero);
  const int unit = top - 1070;
  const double beginning[2] = {__hiloint2double((unit + 52 + 1023) << 20 | 0x80000, 0),
                               __hiloint2double((unit + 3 + 1023) << 20 | 0x80000, 0)};
  double sum[2] = {beginning[0], beginning[1]};
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const auto x = static_cast<double>(items[i]);
    const double h = __dadd_rn(sum[0], x);
    sum[1] = __dadd_rn(sum[1], __dadd_rn(x, -__dadd_rn(h, -sum[0])));
    sum[0] = h;
  }
  long long of_warp[2];
#pragma unroll
  for (int s = 0; s < 2; ++s) {
    of_warp[s] =
        cuda::warp_sum_of_digits(__double_as_longlong(sum[s]) - __double_as_longlong(beginning[s]));
  }
  if (lane < 2 * wide_places<State>::pieces) {
    const bool upper = lane < wide_places<State>::pieces;
    places.add_piece(upper ? of_warp[0] : of_warp[1], upper ? unit : unit - 49,
                     upper ? lane : lane - wide_places<State>::pieces);
  }
  return true;
}

}  // namespace tilefold::detail::cuda
