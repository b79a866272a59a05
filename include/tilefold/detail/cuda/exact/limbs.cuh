// SPDX-License-Identifier: Apache-2.0
//
// Integers of many words of 32 bits, in shared memory. A word may hold more or less than 32 bits,
// so that a warp adds to it without carries. And bins: integers of 64 bits, one a lane, which take
// digits of doubles before they are emptied into such words.
#pragma once

#include <tilefold/detail/cuda/base/warp_sums.cuh>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

/// The sum of all lanes' integers, 2^56 at most in size: in pieces of 20 bits, and the bits above
/// 40, whose sums over 32 lanes fit 32 bits.
TILEFOLD_D long long warp_sum_of_digits(long long mine) {
  const long long low = cuda::warp_sum_at_once(static_cast<int>(mine & 0xfffff));
  const long long middle = cuda::warp_sum_at_once(static_cast<int>(mine >> 20 & 0xfffff));
  const long long high = cuda::warp_sum_at_once(static_cast<int>(mine >> 40));
  return (high << 40) + (middle << 20) + low;
}

/// A digit as an integer: the bits of h less the anchor's, whose words are `anchor` and, below, 0.
TILEFOLD_D long long count_above(double h, int anchor) {
  return static_cast<long long>(
      static_cast<unsigned long long>(static_cast<unsigned>(__double2hiint(h) - anchor)) << 32 |
      static_cast<unsigned>(__double2loint(h)));
}

/// Adds the sum of all lanes' integers, times 2^bit, in pieces as warp_sum_of_digits().
__device__ inline void add_to_limbs(long long* word, long long mine, int bit, int lane) {
  const long long low = cuda::warp_sum_at_once(static_cast<int>(mine & 0xfffff));
  const long long middle = cuda::warp_sum_at_once(static_cast<int>(mine >> 20 & 0xfffff));
  const long long high = cuda::warp_sum_at_once(static_cast<int>(mine >> 40));
  if (lane != 0) return;
  const auto add = [&](long long count, int at) {
    const int shift = at % 32;
    long long* const first = word + at / 32;
    first[0] += (count << shift) & 0xffffffff;
    first[1] += (count >> (32 - shift)) & 0xffffffff;
    first[2] += count >> 32 >> (32 - shift);
  };
  add(low + (middle << 20), bit);
  add(high, bit + 40);
}

/// Empties `num` bins, of which each lane has an integer, into words. Bin b counts
/// 2^(step b + first) times the unit of the first word.
TILEFOLD_D void empty_bins(long long (*bin)[warp_size], int num, int step, int first,
                           long long* word, int lane) {
#pragma unroll 1
  for (int b = 0; b < num; ++b) {
    const long long mine = bin[b][lane];
    if (!__any_sync(full_warp, mine != 0)) continue;
    bin[b][lane] = 0;
    cuda::add_to_limbs(word, mine, step * b + first, lane);
  }
}

/// Adds an item as two digits to two bins of a lane: the lower digit to `lower`, and `Times` the
/// upper digit to the next bin. The upper words of their anchors are `b` and `a`, the lower ones 0.
template <int Times>
TILEFOLD_D void add_two_digits(long long* lower, double x, int a, int b) {
  const double above = __hiloint2double(a, 0);
  const double h = __dadd_rn(x, above);
  const double g = __dadd_rn(__dadd_rn(x, -__dadd_rn(h, -above)), __hiloint2double(b, 0));
  long long* const upper = lower + warp_size;
  const long long lower_sum = *lower + cuda::count_above(g, b);
  const long long upper_sum = *upper + Times * cuda::count_above(h, a);
  *lower = lower_sum;
  *upper = upper_sum;
}

/// Bins in shared memory, of which each lane has its own.
template <class T, int Num>
struct lane_bins {
  T bin[Num][warp_size];
};

/// What all Digits of a warp (exact_kernel.cuh) have: their sums in the end, in shared memory, and
/// marks of what was seen.
template <int Words>
struct warp_words {
  static constexpr int words = Words;
  static constexpr int chunks_to_empty = 0;  // never

  long long word[words];
  unsigned marks;

  TILEFOLD_D void clear(int lane) {
    if constexpr (words <= warp_size) {
      if (lane < words) word[lane] = 0;
    } else {
      for (int i = lane; i < words; i += warp_size) word[i] = 0;
    }
    if (lane == 0) marks = 0;
    __syncwarp();
  }

  /// Takes the infinities and NaNs, and puts -0 in their place.
  template <class T, int N>
  TILEFOLD_D void take_rare(registers<T, N>& items, int lane) {
    std::uint64_t found = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const T x = items[i];
      if (x - x == 0) continue;
      found |= seen::other | seen::of_not_finite(x);
      items.put(i, static_cast<T>(-0.0));
    }
    const unsigned of_warp = cuda::warp_or(static_cast<unsigned>(found));
    if (lane == 0) marks |= of_warp;
  }
};

}  // namespace tilefold::detail::cuda
