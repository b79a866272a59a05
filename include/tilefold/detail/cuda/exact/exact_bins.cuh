// SPDX-License-Identifier: Apache-2.0
//
// A warp's exact sum of floats, whatever their range. A bin takes the items of 16 neighbouring
// exponents; each lane has its own, which are doubles in shared memory:
//
//     bin         0: 2^-149..   1: 2^-111..   2: 2^-95..    ...   15: 2^113..
//     lane 0      [  8 bytes ]  [          ]  [          ]        [          ]
//     lane 1      [          ]  [          ]  [          ]        [          ]      no two lanes
//     ...                                                                           of a bank
//
// Floats of 24 bits and 16 exponents span 39 bits, and a double holds 53: so sums of 2^13 items are
// exact, and no order enters. Then bins are emptied into words of 32 bits. That is 7 instructions
// an item, and half the bandwidth of shared memory at the speed of memory. Bins begin at -0, so
// a bin that still is -0 has met nothing else. Infinities and NaNs make their bin not finite.
#pragma once

#include <tilefold/detail/cuda/exact/limbs.cuh>
#include <tilefold/detail/cuda/exact/tuning_exact.cuh>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

/// A warp's bins, and the words that they are emptied into, in shared memory.
template <tile_policy Policy = exact_bins_policy, int Blocks = min_resident_bins_blocks>
class warp_bins : public lane_bins<double, 16>, public warp_words<12> {
  static constexpr int bins = 16;
  static constexpr int items_of_bin = 1 << 13;
  static constexpr int least = -160;  // a multiple of 32 below the unit of bin 0

 public:
  using number = float;
  static constexpr tile_policy policy = Policy;
  static constexpr int min_resident_blocks = Blocks;
  static constexpr int chunks_to_empty = items_of_bin / policy.vt;
  __device__ static int exponent(int i) { return least + 32 * i; }

  TILEFOLD_D void clear(int lane) {
#pragma unroll
    for (int b = 0; b < bins; ++b) bin[b][lane] = -0.0;
    warp_words::clear(lane);
  }

  /// Adds N items of every lane, N even.
  template <int N>
  TILEFOLD_D bool add(const registers<float, N>& items, int lane) {
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      // Two at a time, so that their loads overlap; if both have one bin, their sum is added.
      double& first = bin[bin_of(items[i])][lane];
      double& second = bin[bin_of(items[i + 1])][lane];
      const auto x = static_cast<double>(items[i]);
      auto y = static_cast<double>(items[i + 1]);
      const double of_first = first;
      const double of_second = second;
      if (&first == &second) y = __dadd_rn(x, y);
      const double sum_of_first = __dadd_rn(of_first, x);
      const double sum_of_second = __dadd_rn(of_second, y);
      first = sum_of_first;
      second = sum_of_second;
    }
    return true;
  }
  /// Empties the bins into the words: after `chunks_to_empty` chunks, and in the end.
  __device__ __noinline__ void empty(int lane) {
    std::uint64_t found = 0;
#pragma unroll 1
    for (int b = 0; b < bins; ++b) {
      const double x = bin[b][lane];
      const bool touched = __double_as_longlong(x) != __double_as_longlong(-0.0);
      if (!__any_sync(full_warp, touched)) continue;
      const bool finite = x - x == 0;
      found |= seen::other | (finite ? 0 : seen::of_not_finite(x));
      cuda::add_to_limbs(word, touched && finite ? count_of(x, unit(b)) : 0, unit(b) - least, lane);
      if (touched) bin[b][lane] = 0.0;
    }
    const unsigned of_warp = cuda::warp_or(static_cast<unsigned>(found));
    if (lane == 0) marks |= of_warp != 0 ? of_warp : static_cast<unsigned>(seen::minus_zero);
  }

 protected:
  /// Bin b holds a multiple of 2^unit.
  TILEFOLD_D static int unit(int b) { return 16 * b - 150; }

 private:
  TILEFOLD_D static unsigned bin_of(float x) { return __float_as_uint(x) >> 27 & 15; }
  // x / 2^unit, an integer of 54 bits.
  __device__ static long long count_of(double x, int unit) {
    const float_parts parts = detail::parts_of(x);
    const int shift = parts.exponent - unit;
    const auto size = static_cast<long long>(shift >= 0 ? parts.mantissa << (min)(shift, 63)
                                                        : parts.mantissa >> (min)(-shift, 63));
    return parts.negative ? -size : size;
  }
};

// A warp's exact sum of bfloat16. These have 8 bits, so a double holds sums of 64 of them whose
// exponents lie within 40 of each other, and a lane just adds. By fields of exponents, of which the
// largest of the chunk is `top`:
//
//     top - 39 and more   a lane adds its items in a double, and once a chunk that sum to two bins:
//                         multiples of its unit to the bin of `top`, the rest to a lower bin
//     less                an item at a time to its bin, as floats go
//
// Bins read and write 16 bytes of shared memory for an item of 2 bytes.

/// A warp's bins, of items that are bfloat16 each.
class warp_windows : public warp_bins<exact_windows_policy, min_resident_windows_blocks> {
  using bins = warp_bins<exact_windows_policy, min_resident_windows_blocks>;
  static constexpr int window = 40;  // fields of exponents
  static constexpr int chunks_between_tries = 15;
  static_assert(policy.vt <= 64);

  int chunks_apart;  // still to be added item by item

 public:
  TILEFOLD_D void clear(int lane) {
    if (lane == 0) chunks_apart = 0;
    bins::clear(lane);
  }

  /// Adds N items of every lane, N even.
  template <int N>
  TILEFOLD_D bool add(const registers<float, N>& items, int lane) {
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
  TILEFOLD_D bool add_together(const registers<float, N>& items, int lane) {
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
  TILEFOLD_D void add_sum(double sum, int top, int lane) {
    const int upper = top >> 4;
    const int lower = (max)(top - 23, 0) >> 4;
    const double above = __hiloint2double((unit(upper) + 52 + 1023) << 20 | 0x80000, 0);
    const double high = __dadd_rn(__dadd_rn(sum, above), -above);
    bin[upper][lane] = __dadd_rn(bin[upper][lane], high);
    bin[lower][lane] = __dadd_rn(bin[lower][lane], __dadd_rn(sum, -high));
  }
};

}  // namespace tilefold::detail::cuda
