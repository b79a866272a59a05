// SPDX-License-Identifier: Apache-2.0
//
// A warp's exact sum of bfloat16. They have 8 bits, so a double holds sums of 64 of them whose
// exponents lie within 40 of each other, and a lane just adds:
//
//     exponents   0 ................. first-40 ........ first ........ largest of the chunk
//     one window                                        [ 40, in a double ]
//     two                             [ 40, another    ][                 ]
//     apart       an item at a time to its bin (exact_bins.cuh), as floats go
//
//     sum of a window, a chunk at a time:
//       h = sum + A, A = 1.5 * 2^(u + 52)     u: the unit of bin b + 1, which gets h - A
//       sum - (h - A)                         exact, and less: bin b gets it
//
// Windows take 6 instructions an item and no shared memory, bins 8 and 16 bytes of it, for an item
// of 2 bytes. Device code.
#pragma once

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/fold/exact_bins.cuh>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// A warp's bins, of items that are bfloat16 each.
class warp_windows : public warp_bins<exact_windows_policy, min_resident_windows_blocks> {
  using bins = warp_bins<exact_windows_policy, min_resident_windows_blocks>;
  static constexpr int window = 40;  // exponents
  static_assert(policy.vt <= 64);    // 40 exponents, 7 bits below, 64 items: 53 bits

 public:
  /// Adds N items of every lane, N even.
  template <int N>
  __device__ __forceinline__ bool add(const registers<float, N>& items, int lane) {
    unsigned most = 0;
    unsigned least = ~0u;  // of those that are not 0, less 1
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const unsigned size = size_of(items[i]);
      most = max(most, size);
      least = min(least, size - 1);
    }
    most = static_cast<unsigned>(cuda::warp_max(static_cast<int>(most)));
    least = static_cast<unsigned>(-cuda::warp_max(-static_cast<int>(least & 0x7fffffffu))) + 1;
    const int first = max(static_cast<int>(most >> 23) - (window - 1), 0);
    if (most >= 0x7f800000u) return bins::add(items, lane);
    if (least >> 23 >= static_cast<unsigned>(first)) {
      double sums[2] = {-0.0, -0.0};
#pragma unroll
      for (int i = 0; i < N; ++i) {
        sums[i % 2] = __dadd_rn(sums[i % 2], static_cast<double>(items[i]));
      }
      add_window(__dadd_rn(sums[0], sums[1]), most == 0, first, lane);
      return true;
    }
    if (static_cast<int>(least >> 23) < first - window) return bins::add(items, lane);
    const unsigned limit = static_cast<unsigned>(first) << 23;
    double upper = -0.0;
    double lower = -0.0;
#pragma unroll
    for (int i = 0; i < N; ++i) add_to_one(upper, lower, items[i], limit);
    add_window(upper, false, first, lane);
    add_window(lower, false, max(first - window, 0), lane);
    return true;
  }

 private:
  __device__ __forceinline__ static unsigned size_of(float x) {
    return __float_as_uint(x) & 0x7fffffffu;
  }
  // To `upper` if the item's bits are `limit` at least. By predicates: selects between doubles take
  // twice the instructions.
  __device__ __forceinline__ static void add_to_one(double& upper, double& lower, float x,
                                                    unsigned limit) {
    asm("{\n\t.reg .pred large;\n\tsetp.ge.u32 large, %2, %3;\n\t"
        "@large add.rn.f64 %0, %0, %4;\n\t@!large add.rn.f64 %1, %1, %4;\n\t}"
        : "+d"(upper), "+d"(lower)
        : "r"(size_of(x)), "r"(limit), "d"(static_cast<double>(x)));
  }
  // Adds a lane's sum of items whose exponents begin at field `first`.
  __device__ __forceinline__ void add_window(double sum, bool only_zeros, int first, int lane) {
    if (only_zeros) {
      // Of -0 alone it is -0.
      bin[0][lane] = __dadd_rn(bin[0][lane], sum);
      return;
    }
    const int b = first >> 4;
    const double above = __hiloint2double((unit(b + 1) + 52 + 1023) << 20 | 0x80000, 0);
    const double high = __dadd_rn(__dadd_rn(sum, above), -above);
    bin[b + 1][lane] = __dadd_rn(bin[b + 1][lane], high);
    bin[b][lane] = __dadd_rn(bin[b][lane], __dadd_rn(sum, -high));
  }
};

}  // namespace tilefold::detail::cuda
