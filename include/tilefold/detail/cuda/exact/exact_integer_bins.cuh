// SPDX-License-Identifier: Apache-2.0
//
// A warp's exact sum of doubles, whatever their range. Each lane has a bin for every 51 exponents,
// an integer of 64 bits in shared memory. A double of level l (a level has 51 exponents) becomes
// two digits:
//
//     A = 1.5 * 2^(u + 52)   u = 51 l - 1022, so that |x| < 2^(u + 51)
//     h = x + A              rounded to a multiple of 2^u
//     rest = x - (h - A)     exact, at most 2^(u - 1), a multiple of 2^(u - 52): the last bit of x
//     g = rest + A / 2^52    exact
//
//     bin l + 1     counts 2^(u - 1); gets 2 (bits of h - bits of A)
//     bin l         counts 2^(u - 52); gets bits of g - bits of A / 2^52
//
// A bin gains at most 2^52 an item, and exactly that of the largest below a power of two, so that
// it holds 2^11 - 1 items. Then bins are emptied into words of 32 bits. Integers know no order.
// That is 27 instructions an item. Device code.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/exact/limbs.cuh>
#include <tilefold/detail/cuda/exact/tuning_exact.cuh>
#include <tilefold/detail/exact/exact_state.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// A warp's bins, and the words that they are emptied into, in shared memory.
class warp_integer_bins {
  static constexpr int step = 51;
  static constexpr int unit_of_all = -1074;  // of the least subnormals
  static constexpr int bins = 42;
  static constexpr int items_of_bin = (1 << 11) - 1;
  static constexpr unsigned most_exponent = 2040;  // of a level; fields of exponents
  static constexpr int least = -1088;              // a multiple of 32 below the unit of bin 0

 public:
  using number = double;
  static constexpr tile_policy policy = exact_integer_bins_policy;
  static constexpr int min_resident_blocks = min_resident_integer_bins_blocks;
  static constexpr int words = 70;
  static constexpr int chunks_to_empty = items_of_bin / policy.vt;
  __device__ static int exponent(int i) { return least + 32 * i; }

  long long bin[bins][warp_size];
  long long word[words];
  unsigned marks;

  __device__ __forceinline__ void clear(int lane) {
#pragma unroll
    for (int b = 0; b < bins; ++b) bin[b][lane] = 0;
    for (int i = lane; i < words; i += warp_size) word[i] = 0;
    if (lane == 0) marks = 0;
    __syncwarp();
  }

  /// Adds N items of every lane, unless one is huge or not finite. Returns whether it did.
  template <int N>
  __device__ __forceinline__ bool add(registers<double, N>& items, int lane) {
    unsigned most = 0;
    unsigned any = 0;
    int all = -1;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      most = (max)(most, static_cast<unsigned>(__double2hiint(items[i])) & 0x7fffffffu);
    }
    if (__any_sync(full_warp, most > (most_exponent << 20 | 0xfffffu))) return false;
    if (most == 0) {
      // Only zeros, or the least subnormals: has the lane met anything but -0?
#pragma unroll
      for (int i = 0; i < N; ++i) {
        any |= static_cast<unsigned>(__double2loint(items[i]));
        all &= __double2hiint(items[i]);
      }
    }
    note(most != 0 || any != 0 || all >= 0, lane);
#pragma unroll
    for (int i = 0; i < N; ++i) add_to(&bin[0][lane], items[i]);
    return true;
  }

  /// Takes what add() refuses: -0 is in its place.
  template <int N>
  __device__ __forceinline__ void take_rare(registers<double, N>& items, int lane) {
    std::uint64_t found = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const double x = items[i];
      const unsigned size = static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffu;
      if (size >> 20 <= most_exponent) continue;
      found |= seen::other;
      if (size < 0x7ff00000u) {
        add_to(&bin[1][lane], x * 0x1p-51);  // one bin higher
      } else {
        found |= seen::of_not_finite(x);
      }
      items.put(i, -0.0);
    }
    const unsigned of_warp = cuda::warp_or(static_cast<unsigned>(found));
    if (lane == 0) marks |= of_warp;
  }

  /// Empties the bins into the words: after `chunks_to_empty` chunks, and in the end.
  __device__ __noinline__ void empty(int lane) {
    cuda::empty_bins(bin, bins, step, unit_of_all - least, word, lane);
  }

 private:
  __device__ __forceinline__ void note(bool other, int lane) {
    const bool of_warp = __any_sync(full_warp, other);
    if (lane == 0) marks |= static_cast<unsigned>(of_warp ? seen::other : seen::minus_zero);
  }

  // The level of an exponent's field e: (max(e, 1) - 1) / 51, by the inverse times 2^20.
  __device__ __forceinline__ static int level_of(unsigned e) {
    constexpr unsigned inverse = 20561;
    return static_cast<int>((max)(e, 1u) * inverse - inverse) >> 20;
  }
  // The upper word of a level's A.
  __device__ __forceinline__ static int anchor_of(int level) {
    return level * (step << 20) + (53 << 20 | 0x80000);
  }

  // Adds an item to the two bins of its level; `bins` begins with bin 0 of the lane.
  __device__ __forceinline__ static void add_to(long long* bins, double x) {
    const int level = level_of(static_cast<unsigned>(__double2hiint(x)) >> 20 & 0x7ffu);
    const int a = anchor_of(level);
    cuda::add_two_digits<2>(bins + level * warp_size, x, a, a - (52 << 20));
  }
};

}  // namespace tilefold::detail::cuda
