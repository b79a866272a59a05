// SPDX-License-Identifier: Apache-2.0
//
// A warp's exact sum of halves, or of narrower types of their range: multiples of 2^-24 below 2^16.
// So two digits against one anchor hold any of them, and there is nothing to search:
//
//     h = x + 1.5 * 2^17   rounded to a multiple of 2^-6; the bits of all h are added as integers
//     x - (h - 1.5 * 2^17) the rest, at most 2^-7: floats hold sums of 128 of them exactly
//
// The rests of -0 alone give -0, and of whatever is not finite NaN. Device code.
#pragma once

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/exact/not_finite.cuh>
#include <tilefold/detail/cuda/exact/tuning_exact.cuh>
#include <tilefold/detail/exact/exact_state.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// A warp's own sums, in shared memory: of multiples of 2^-6, and of rests.
class warp_integers {
 public:
  using number = float;
  static constexpr tile_policy policy = exact_policy_of_halves;
  static constexpr int min_resident_blocks = min_resident_half_blocks;
  static constexpr int words = 2;
  __device__ static int exponent(int i) { return i == 0 ? -6 : -24; }

  long long word[words];
  unsigned marks;

  __device__ __forceinline__ void clear(int lane) {
    if (lane < words) word[lane] = 0;
    if (lane == 0) marks = 0;
    __syncwarp();
  }

  /// Adds N items of every lane, unless one is not finite. Returns whether it did. All lanes of the
  /// warp.
  template <int N>
  __device__ __forceinline__ bool add(const registers<float, N>& items, int lane) {
    static_assert(N <= 128);
    constexpr float anchor = 0x1.8p17f;
    unsigned digits = 0;
    float rests[2] = {-0.0f, -0.0f};
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const float h = __fadd_rn(items[i], anchor);
      digits += __float_as_uint(h);
      const float rest = __fadd_rn(items[i], -__fadd_rn(h, -anchor));
      rests[i % 2] = __fadd_rn(rests[i % 2], rest);
    }
    const float rest = __fadd_rn(rests[0], rests[1]);
    if (__any_sync(full_warp, rest != rest)) return false;
    const bool other = __any_sync(full_warp, __float_as_uint(rest) != 0x80000000u);
    if (lane == 0) marks |= static_cast<unsigned>(other ? seen::other : seen::minus_zero);
    const int count = static_cast<int>(digits - N * __float_as_uint(anchor));
    const long long sum = sum_of(count);
    const int sum_of_rests = cuda::warp_sum_at_once(__float2int_rn(rest * 0x1p24f));
    if (lane == 0) word[0] += sum;
    if (lane == 1) word[1] += sum_of_rests;
    return true;
  }

  /// Takes what add() refuses: -0 is in its place.
  template <int N>
  __device__ __forceinline__ void take_rare(registers<float, N>& items, int lane) {
    const unsigned of_warp = cuda::take_not_finite(items);
    if (lane == 0) marks |= of_warp;
  }

 private:
  // The sum of all lanes' integers.
  __device__ __forceinline__ static long long sum_of(int mine) {
    const int high = cuda::warp_sum_at_once(mine >> 12);
    const int low = cuda::warp_sum_at_once(mine & 4095);
    return (static_cast<long long>(high) << 12) + low;
  }
};

}  // namespace tilefold::detail::cuda
