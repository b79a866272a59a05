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
// A bin gains at most 2^52 an item (of the largest number below a power of two), so that it holds
// 2^11 - 1 items. Then bins are emptied into words of 32 bits. That is 27 instructions an item.
#pragma once

#include <tilefold/detail/cuda/exact/limbs.cuh>
#include <tilefold/detail/cuda/exact/tuning_exact.cuh>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

/// A warp's bins, and the words that they are emptied into, in shared memory.
class warp_integer_bins : public lane_bins<long long, 42>, public warp_words<70> {
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
  static constexpr int chunks_to_empty = items_of_bin / policy.vt;
  __device__ static int exponent(int i) { return least + 32 * i; }

  TILEFOLD_D void clear(int lane) {
#pragma unroll
    for (int b = 0; b < bins; ++b) bin[b][lane] = 0;
    warp_words::clear(lane);
  }

  /// Adds N items of every lane, unless one is huge or not finite. Returns whether it did.
  template <int N>
  TILEFOLD_D bool add(registers<double, N>& items, int lane) {
    unsigned most = 0;
    unsigned any = 0;
    int all = -1;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      most = (max)(most, static_cast<unsigned>(__double2hiint(items[i])) & 0x7fffffffu);
    }
    if (__any_sync(full_warp, most > (most_exponent << 20 | 0xfffffu))) return false;
    if (most == 0) {
      // Only zeros, or the least subnormals: the marks ask whether one is anything but -0.
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

  /// Takes the items that add() refuses, and puts -0 in their place.
  template <int N>
  TILEFOLD_D void take_rare(registers<double, N>& items, int lane) {
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
  TILEFOLD_D void note(bool other, int lane) {
    const bool of_warp = __any_sync(full_warp, other);
    if (lane == 0) marks |= static_cast<unsigned>(of_warp ? seen::other : seen::minus_zero);
  }

  // The level of an exponent's field e, (max(e, 1) - 1) / 51: the inverse is 2^20 / 51, rounded up.
  TILEFOLD_D static int level_of(unsigned e) {
    constexpr unsigned inverse = 20561;
    return static_cast<int>((max)(e, 1u) * inverse - inverse) >> 20;
  }
  // The upper word of a level's A.
  TILEFOLD_D static int anchor_of(int level) { return level * (step << 20) + (53 << 20 | 0x80000); }

  // Adds an item to the two bins of its level; `bins` begins with bin 0 of the lane.
  TILEFOLD_D static void add_to(long long* bins, double x) {
    const int level = level_of(static_cast<unsigned>(__double2hiint(x)) >> 20 & 0x7ffu);
    const int a = anchor_of(level);
    cuda::add_two_digits<2>(bins + level * warp_size, x, a, a - (52 << 20));
  }
};

// A warp's exact sum of products of two floats each, which are doubles of 48 bits. Each lane has a
// bin for every 47 exponents, an integer of 64 bits in shared memory; bin b counts 2^u(b),
// u(b) = 47 b - 298. A chunk's items go into running sums that begin at anchors of 1.5 * 2^(u +
// 52):
//
//     sum 0     h = sum + x        rounded to a multiple of 2^u
//               x -= h - sum       exact: what is left, at most 2^(u - 1), so below the next bin
//               sum = h
//     sum 1     takes what is left in the same way, one bin lower
//     last sum  adds what is left: chosen so low that nothing is left of it
//     then      bin b gets bits of sum 0 - bits of its anchor, and so on
//
// All is exact as long as 32 items of a lane sum up to less than 2^(u + 51), so the largest is
// below 2^(u + 46). Sums are integers, and no order enters. That is 3 additions an item and sum.
// Ordinary data take two sums or three, and four are still at the speed of memory. Where the items
// of a chunk lie further apart, each goes by itself to the two bins that hold its bits.

/// A warp's bins, and the words that they are emptied into, in shared memory.
class warp_products : public lane_bins<long long, 13>, public warp_words<21> {
  static constexpr int step = 47;
  static constexpr int unit_of_all = -298;      // of products of the least subnormals
  static constexpr int digits = 48;             // of a product
  static constexpr int bins = 12;               // up to 2^256; bin b is behind one that stays 0
  static constexpr int items_of_bin = 1 << 15;  // 2^47 at most an item
  static constexpr int least = -320;            // a multiple of 32 below the unit of bin 0
  static constexpr int bias = 1023;

 public:
  using number = double;
  static constexpr tile_policy policy = exact_products_policy;
  static constexpr int min_resident_blocks = min_resident_products_blocks;
  static_assert(policy.vt <= 32);
  static constexpr int chunks_to_empty = items_of_bin / policy.vt;
  __device__ static int exponent(int i) { return least + 32 * i; }

  TILEFOLD_D void clear(int lane) {
#pragma unroll
    for (int b = 0; b <= bins; ++b) bin[b][lane] = 0;
    warp_words::clear(lane);
  }

  /// Adds N items of every lane, unless one is not finite. Returns whether it did. All lanes.
  template <int N>
  TILEFOLD_D bool add(const registers<double, N>& items, int lane) {
    unsigned most = 0;
    unsigned small = ~0u;  // the least that is not 0, less 1
    int all = -1;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const unsigned size = size_of(items[i]);
      most = (max)(most, size);
      small = (min)(small, size - 1);
      all &= __double2hiint(items[i]);
    }
    const bool other = __any_sync(full_warp, most != 0 || all >= 0);
    if (lane == 0) marks |= static_cast<unsigned>(other ? seen::other : seen::minus_zero);
    const unsigned largest = static_cast<unsigned>(cuda::warp_max(static_cast<int>(most))) >> 20;
    if (largest == 0) return true;
    if (largest == 2 * bias + 1) return false;
    const unsigned smallest =
        (static_cast<unsigned>(-cuda::warp_max(-static_cast<int>(small & 0x7fffffffu))) + 1) >> 20;
    // Below 2^(u + 46) of the bin; multiples of 2^u of the lowest.
    const int b = static_cast<int>(largest - (bias - 1 + unit_of_all + 46) + step - 1) / step;
    const int last = static_cast<int>(smallest) - (bias + digits - 1) - unit_of_all;
    const int sums = b + 1 - (max)(last, 0) / step;
    if (sums <= 2) {
      add_together<2>(items, b, lane);
    } else if (sums == 3) {
      add_together<3>(items, b, lane);
    } else if (sums == 4) {
      add_together<4>(items, b, lane);
    } else if (sums == 5) {
      add_together<5>(items, b, lane);
    } else if (sums == 6) {
      add_together<6>(items, b, lane);
    } else {
#pragma unroll
      for (int i = 0; i < N; ++i) add_apart(items[i], lane);
    }
    return true;
  }

  /// Empties the bins into the words: after `chunks_to_empty` chunks, and in the end.
  __device__ __noinline__ void empty(int lane) {
    cuda::empty_bins(bin + 1, bins, step, unit_of_all - least, word, lane);
  }

 private:
  TILEFOLD_D static unsigned size_of(double x) {
    return static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffu;
  }
  // The upper word of a bin's anchor; the lower one is 0.
  TILEFOLD_D static int anchor_of(int b) {
    return b * (step << 20) + ((unit_of_all + 52 + bias) << 20 | 0x80000);
  }

  // Adds items to Sums running sums, from that of `bin` down; sums below bin 0 get nothing.
  template <int Sums, int N>
  TILEFOLD_D void add_together(const registers<double, N>& items, int b, int lane) {
    double sum[Sums];
#pragma unroll
    for (int s = 0; s < Sums; ++s) sum[s] = __hiloint2double(anchor_of(b - s), 0);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      double x = items[i];
#pragma unroll
      for (int s = 0; s < Sums; ++s) {
        const double h = __dadd_rn(sum[s], x);
        if (s + 1 < Sums) x = __dadd_rn(x, -__dadd_rn(h, -sum[s]));
        sum[s] = h;
      }
    }
#pragma unroll
    for (int s = 0; s < Sums; ++s) {
      if (b - s >= 0) bin[b - s + 1][lane] += cuda::count_above(sum[s], anchor_of(b - s));
    }
  }

  // Adds one item. Its highest bit lies in its bin, its lowest in that bin or the next lower.
  TILEFOLD_D void add_apart(double x, int lane) {
    const unsigned e = (max)(size_of(x) >> 20, static_cast<unsigned>(bias + unit_of_all));
    const int b = static_cast<int>((e - (bias + unit_of_all)) / step);
    const int a = anchor_of(b);
    cuda::add_two_digits<1>(&bin[b][lane], x, a, a - (step << 20));
  }
};

}  // namespace tilefold::detail::cuda
