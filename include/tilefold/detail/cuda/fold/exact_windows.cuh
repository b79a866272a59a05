// SPDX-License-Identifier: Apache-2.0
//
// A warp's exact sum of bfloat16. They have 8 bits, so a double holds sums of 64 of them that are
// near each other. By fields of exponents, `top` that of the chunk's largest:
//
//     top - 39 and more   a lane just adds
//     top - 85            two sums, the upper one begins at 1.5 * 2^(top - 119):
//                           h = upper + x         rounded to a multiple of 2^(top - 171)
//                           lower += x - (h - upper)      exact: what is left of x
//                           upper = h
//     less                an item at a time to its bin, as floats go (exact_bins.cuh)
//
// Sums go to bins once a chunk: the multiples of its unit to that of `top`, what is left to one
// below it. That is 6 or 9 instructions an item and no shared memory; bins take 8, and 16 bytes of
// it, for an item of 2 bytes. Device code.
#pragma once

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/fold/exact_bins.cuh>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// A warp's bins, of items that are bfloat16 each.
class warp_windows : public warp_bins<exact_windows_policy, min_resident_windows_blocks> {
  using bins = warp_bins<exact_windows_policy, min_resident_windows_blocks>;
  // Fields of exponents below the largest: what one sum takes, and what two do.
  static constexpr int of_one = 39;
  static constexpr int of_two = 85;
  static_assert(policy.vt <= 64);

  int first;  // field where the window of chunks begins, as it was last

 public:
  __device__ __forceinline__ void clear(int lane) {
    if (lane == 0) first = 127 - of_one / 2;
    bins::clear(lane);
  }

  /// Adds N items of every lane, N even.
  template <int N>
  __device__ __forceinline__ bool add(const registers<float, N>& items, int lane) {
    const int of_chunk = first;
    if (add_near(items, of_chunk, lane)) return true;
    unsigned most = 0;
    unsigned least = ~0u;  // of those that are not 0, less 1
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const unsigned size = __float_as_uint(items[i]) & 0x7fffffffu;
      most = max(most, size);
      least = min(least, size - 1);
    }
    most = static_cast<unsigned>(cuda::warp_max(static_cast<int>(most)));
    least = static_cast<unsigned>(-cuda::warp_max(-static_cast<int>(least & 0x7fffffffu))) + 1;
    if (most >= 0x7f800000u) return bins::add(items, lane);
    const int top = static_cast<int>(most >> 23);
    const int spread = top - static_cast<int>(least >> 23);
    // In the middle between both, for the chunks to come.
    if (lane == 0) first = detail::bounded(top - (spread + of_one) / 2, 0, 254 - of_one);
    __syncwarp();
    if (spread <= of_one) {
      double sums[2] = {-0.0, -0.0};
#pragma unroll
      for (int i = 0; i < N; ++i) {
        sums[i % 2] = __dadd_rn(sums[i % 2], static_cast<double>(items[i]));
      }
      const double sum = __dadd_rn(sums[0], sums[1]);
      if (most != 0) {
        add_sum(sum, top, lane);
      } else {
        bin[0][lane] = __dadd_rn(bin[0][lane], sum);  // -0 if all items are
      }
      return true;
    }
    if (spread > of_two) return bins::add(items, lane);
    const double above = __hiloint2double((top - 119 + 1023) << 20 | 0x80000, 0);
    double upper = above;
    double lower = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const auto x = static_cast<double>(items[i]);
      const double h = __dadd_rn(upper, x);
      lower = __dadd_rn(lower, __dadd_rn(x, -__dadd_rn(h, -upper)));
      upper = h;
    }
    add_sum(__dadd_rn(upper, -above), top, lane);
    add_sum(lower, top - 46, lane);
    return true;
  }

 private:
  // Adds the items if their exponents begin at `low` and lie in one window. Returns whether they
  // do.
  template <int N>
  __device__ __forceinline__ bool add_near(const registers<float, N>& items, int low, int lane) {
    const unsigned begin = static_cast<unsigned>(low) << 24;
    unsigned furthest = 0;
    double sums[2] = {-0.0, -0.0};
#pragma unroll
    for (int i = 0; i < N; ++i) {
      // Without the sign; what is below `begin` is large.
      furthest = max(furthest, 2 * __float_as_uint(items[i]) - begin);
      sums[i % 2] = __dadd_rn(sums[i % 2], static_cast<double>(items[i]));
    }
    if (__any_sync(full_warp, furthest >= (of_one + 1u) << 24)) return false;
    add_sum(__dadd_rn(sums[0], sums[1]), low + of_one, lane);
    return true;
  }
  // Adds a lane's sum, at most 2^(top - 120) and a multiple of 2^(top - 173).
  __device__ __forceinline__ void add_sum(double sum, int top, int lane) {
    const int upper = max(top, 0) >> 4;
    const int lower = max(top - 23, 0) >> 4;
    const double above = __hiloint2double((unit(upper) + 52 + 1023) << 20 | 0x80000, 0);
    const double high = __dadd_rn(__dadd_rn(sum, above), -above);
    bin[upper][lane] = __dadd_rn(bin[upper][lane], high);
    bin[lower][lane] = __dadd_rn(bin[lower][lane], __dadd_rn(sum, -high));
  }
};

}  // namespace tilefold::detail::cuda
