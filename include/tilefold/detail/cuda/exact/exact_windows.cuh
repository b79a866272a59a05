// SPDX-License-Identifier: Apache-2.0
//
// A warp's exact sum of bfloat16. They have 8 bits, so a double holds sums of 64 of them whose
// exponents lie within 40 of each other, and a lane just adds. By fields of exponents, `top` that
// of the chunk's largest:
//
//     top - 39 and more   a lane adds its items in a double, and this once a chunk to its bins:
//                         multiples of its unit to that of `top`, what is left to one below it
//     less                an item at a time to its bin, as floats go (exact_bins.cuh)
//
// Bins read and write 16 bytes of shared memory for an item of 2 bytes. Device code.
#pragma once

#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/exact/exact_bins.cuh>
#include <tilefold/detail/cuda/exact/tuning_exact.cuh>

namespace tilefold::detail::cuda {

/// A warp's bins, of items that are bfloat16 each.
class warp_windows : public warp_bins<exact_windows_policy, min_resident_windows_blocks> {
  using bins = warp_bins<exact_windows_policy, min_resident_windows_blocks>;
  static constexpr int window = 40;  // fields of exponents
  static constexpr int chunks_between_tries = 15;
  static_assert(policy.vt <= 64);

  int chunks_apart;  // still to be added item by item

 public:
  __device__ __forceinline__ void clear(int lane) {
    if (lane == 0) chunks_apart = 0;
    bins::clear(lane);
  }

  /// Adds N items of every lane, N even.
  template <int N>
  __device__ __forceinline__ bool add(const registers<float, N>& items, int lane) {
    const int apart = chunks_apart;
    __syncwarp();
    if (apart == 0 && add_together(items, lane)) return true;
    if (lane == 0) chunks_apart = apart == 0 ? chunks_between_tries : apart - 1;
    __syncwarp();
    return bins::add(items, lane);
  }

 private:
  // Returns whether items are finite and near enough.
  template <int N>
  __device__ __forceinline__ bool add_together(const registers<float, N>& items, int lane) {
    unsigned most = 0;
    unsigned least = ~0u;  // of those that are not 0, less 1
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const unsigned size = __float_as_uint(items[i]) & 0x7fffffffu;
      most = (max)(most, size);
      least = (min)(least, size - 1);
    }
    most = static_cast<unsigned>(cuda::warp_max(static_cast<int>(most)));
    least = static_cast<unsigned>(-cuda::warp_max(-static_cast<int>(least & 0x7fffffffu))) + 1;
    const int top = static_cast<int>(most >> 23);
    if (top - static_cast<int>(least >> 23) >= window || top == 255) return false;
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
  // Adds a lane's sum, at most 2^(top - 120) and a multiple of 2^(top - 173).
  __device__ __forceinline__ void add_sum(double sum, int top, int lane) {
    const int upper = top >> 4;
    const int lower = (max)(top - 23, 0) >> 4;
    const double above = __hiloint2double((unit(upper) + 52 + 1023) << 20 | 0x80000, 0);
    const double high = __dadd_rn(__dadd_rn(sum, above), -above);
    bin[upper][lane] = __dadd_rn(bin[upper][lane], high);
    bin[lower][lane] = __dadd_rn(bin[lower][lane], __dadd_rn(sum, -high));
  }
};

}  // namespace tilefold::detail::cuda
