// SPDX-License-Identifier: Apache-2.0
//
// A warp's exact sum of floats or doubles by digits. A number is cut against fixed anchors, large
// powers of two; here anchors of floats, 23 bits apart:
//
//     item        x = 1.01101...01 * 2^3           24 bits
//     anchor A    1.5 * 2^12, above all items of the warp's chunk
//     h = x + A   rounded to a multiple of 2^-11: A and the digit, the upper bits of x
//     x -= h - A  exact: what is left lies below 2^-12, for the next anchor 23 bits lower
//     digits      the bits of all h are added as integers, and the anchor's taken off in the end
//
// A chunk is cut level by level, from the anchor of its largest item down until nothing is left.
// Anchors are fixed, so sums are integers and no order enters. Ordinary data take two or three
// levels. Items too large for the first anchor are scaled first; infinities and NaNs are noted.
#pragma once

#include <tilefold/detail/cuda/exact/limbs.cuh>
#include <tilefold/detail/cuda/exact/tuning_exact.cuh>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

/// Anchor l is 1.5 * 2^(top - step l); its last bit is worth 2^(top - fraction - step l).
template <class Float>
struct anchors;
template <>
struct anchors<float> {
  using bits_type = unsigned;
  static constexpr int fraction = 23;
  static constexpr int bias = 127;
  static constexpr int step = 23;
  static constexpr int top = 127;
  static constexpr int levels = 12;
  static constexpr int scale = 24;        // items of 2^125 and more are taken 2^-24 times
  static constexpr int words_of_sum = 1;  // words of a sum of digits
  static constexpr bool has_rest = false;
};
template <>
struct anchors<double> {
  using bits_type = unsigned long long;
  static constexpr int fraction = 52;
  static constexpr int bias = 1023;
  static constexpr int step = 52;
  static constexpr int top = 1022;
  static constexpr int levels = 40;
  static constexpr int scale = 64;
  static constexpr int words_of_sum = 2;
  static constexpr bool has_rest = true;  // below the last anchor: multiples of 2^-1074
};

/// The sum of two numbers, which a compiler does not fuse with a product.
TILEFOLD_D float sum_of(float a, float b) { return __fadd_rn(a, b); }
TILEFOLD_D double sum_of(double a, double b) { return __dadd_rn(a, b); }

/// Cuts N items at an anchor of 1.5 * 2^top, and returns the sum of their digits. `items` become
/// what is left of them; `left` is the bitwise or of it.
template <class Float, int N, class Bits = typename anchors<Float>::bits_type>
TILEFOLD_D std::make_signed_t<Bits> cut_at(int top, registers<Float, N>& items, Bits& left) {
  using anchor = anchors<Float>;
  const Bits a =
      static_cast<Bits>(top + anchor::bias) << anchor::fraction | Bits{1} << (anchor::fraction - 1);
  const auto above = __builtin_bit_cast(Float, a);
  Bits digits = 0;
  left = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const Float h = cuda::sum_of(items[i], above);
    digits += __builtin_bit_cast(Bits, h);
    items.put(i, cuda::sum_of(items[i], -cuda::sum_of(h, -above)));
    left |= __builtin_bit_cast(Bits, items[i]);
  }
  return static_cast<std::make_signed_t<Bits>>(digits - N * a);
}

/// The sum of what is left of items below the last anchor, in multiples of the least number. These
/// rests are so small that their bits are these integers.
template <class Float, int N>
TILEFOLD_D long long rest_of(const registers<Float, N>& items) {
  using bits_type = typename anchors<Float>::bits_type;
  constexpr bits_type sign = bits_type{1} << (8 * sizeof(Float) - 1);
  long long sum = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const auto bits = __builtin_bit_cast(bits_type, items[i]);
    const auto size = static_cast<long long>(bits & ~sign);
    sum += (bits & sign) != 0 ? -size : size;
  }
  return sum;
}

/// A warp's own sums of digits, in shared memory.
template <class Float, tile_policy Policy = exact_policy>
class warp_digits {
  using anchor = anchors<Float>;
  using bits_type = typename anchor::bits_type;
  static constexpr bits_type sign = bits_type{1} << (8 * sizeof(Float) - 1);

 public:
  using number = Float;
  static constexpr tile_policy policy = Policy;
  static constexpr int min_resident_blocks =
      Policy.vt > exact_policy.vt ? min_resident_exact_long_blocks : min_resident_exact_blocks;
  static constexpr int chunks_to_empty = 0;  // never

  // Which words have which sums of digits: of all levels, of the rests, and of scaled items.
  static constexpr int scaled_levels = 4;
  static constexpr int rest = anchor::levels;
  static constexpr int first_scaled = anchor::levels + (anchor::has_rest ? 1 : 0);
  static constexpr int words = (first_scaled + scaled_levels) * anchor::words_of_sum;

  /// The power of two that a word counts.
  __device__ static int exponent(int word) {
    constexpr int unit = anchor::top - anchor::fraction;
    const int s = word / anchor::words_of_sum;
    const int bit = 32 * (word % anchor::words_of_sum);
    if (anchor::has_rest && s == rest) return bit + 1 - anchor::bias - anchor::fraction;
    return bit + (s >= first_scaled ? unit + anchor::scale - anchor::step * (s - first_scaled)
                                    : unit - anchor::step * s);
  }

  /// The largest exponent, as a field, of items that the first anchor takes.
  static constexpr int most_exponent = anchor::top - 3 + anchor::bias;

  long long word[words];
  unsigned marks;

  TILEFOLD_D void clear(int lane) {
    for (int i = lane; i < words; i += warp_size) word[i] = 0;
    if (lane == 0) marks = 0;
    __syncwarp();
  }

  /// Adds N items of every lane, unless some are too large for the first anchor or not finite.
  /// Returns whether it did. All lanes of the warp.
  template <int N>
  TILEFOLD_D bool add(registers<Float, N>& items, int lane) {
    const int largest = largest_exponent(items);
    if (largest > most_exponent) return false;
    if (largest < 0) {
      note_zeros(items, lane);
      return true;
    }
    if (lane == 0) marks |= static_cast<unsigned>(seen::other);
    const int level = (anchor::top - 2 + anchor::bias - largest) / anchor::step;
    cut(items, lane, detail::smaller(level, anchor::levels - 1), 0);
    return true;
  }

  /// Takes the items that add() refuses, and puts -0 in their place.
  template <int N>
  TILEFOLD_D void take_rare(registers<Float, N>& items, int lane) {
    add_huge(items, lane);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (exponent_of(items[i]) > most_exponent) items.put(i, -Float{0});
    }
  }

  /// The exponent's field, of all items of the warp; -1 if all are zeros.
  template <int N>
  TILEFOLD_D static int largest_exponent(const registers<Float, N>& items) {
    if constexpr (sizeof(Float) == 4) {
      // In one instruction an item, which ignores NaNs: cut() and note_zeros() find them.
      float most = 0;
#pragma unroll
      for (int i = 0; i < N; ++i) most = fmaxf(most, fabsf(items[i]));
      const int all = cuda::warp_max(static_cast<int>(bits_of(most)));
      return all == 0 ? -1 : all >> anchor::fraction;
    } else {
      // The upper words, and whether any lower word is not zero (for the least subnormals).
      unsigned most = 0;
      unsigned any = 0;
#pragma unroll
      for (int i = 0; i < N; ++i) {
        most = (max)(most, static_cast<unsigned>(bits_of(items[i]) >> 32) & 0x7fffffffu);
        any |= static_cast<unsigned>(bits_of(items[i]));
      }
      const int all = cuda::warp_max(static_cast<int>(most | (any != 0 ? 1u : 0u)));
      return all == 0 ? -1 : all >> (anchor::fraction - 32);
    }
  }

 private:
  TILEFOLD_D static bits_type bits_of(Float x) { return __builtin_bit_cast(bits_type, x); }
  TILEFOLD_D static int exponent_of(Float x) {
    return static_cast<int>((bits_of(x) & ~sign) >> anchor::fraction);
  }
  // Cuts the items at anchor `level` and at lower ones, until nothing is left of any item. Digits
  // of a level go to sum base + level.
  template <int N>
  TILEFOLD_D void cut(registers<Float, N>& items, int lane, int level, int base) {
    bool more;
#pragma unroll 1
    do {
      bits_type left;
      const auto digits = cuda::cut_at(anchor::top - anchor::step * level, items, left);
      add_sum(base + level, digits, lane);
      ++level;
      more = __any_sync(full_warp, (left & ~sign) != 0);
    } while (more && level < anchor::levels);
    if (more) {
      if constexpr (anchor::has_rest) {
        add_sum(rest, cuda::rest_of(items), lane);
      } else if (lane == 0) {
        marks |= static_cast<unsigned>(seen::nan);  // numbers leave nothing, so it is a NaN
      }
    }
  }

  // Adds all lanes' digits to sum number s of the layout.
  TILEFOLD_D void add_sum(int s, int mine, int lane) {
    const int high = cuda::warp_sum_at_once(mine >> 12);
    const int low = cuda::warp_sum_at_once(mine & 4095);
    if (lane == 0) word[s] += (static_cast<long long>(high) << 12) + low;
  }
  TILEFOLD_D void add_sum(int s, long long mine, int lane) {
    const long long all = cuda::warp_sum_of_digits(mine);
    // The sum of a level has more than 64 bits: the lower 32 and what is above them.
    if (lane == 0) word[2 * s] += all & 0xffffffff;
    if (lane == 1) word[2 * s + 1] += all >> 32;
  }

  // Adds the items that are too large for the first anchor, and notes those that are not finite.
  template <int N>
  TILEFOLD_D void add_huge(const registers<Float, N>& items, int lane) {
    registers<Float, N> scaled;
    unsigned found = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const bits_type bits = bits_of(items[i]);
      const int exponent = exponent_of(items[i]);
      const bool finite = exponent <= 2 * anchor::bias;
      if (exponent > most_exponent) found |= static_cast<unsigned>(seen::other);
      if (!finite) {
        const bool nan = (bits & ((bits_type{1} << anchor::fraction) - 1)) != 0;
        found |= static_cast<unsigned>(nan                  ? seen::nan
                                       : (bits & sign) != 0 ? seen::minus_infinity
                                                            : seen::plus_infinity);
      }
      const bits_type divided = bits - (static_cast<bits_type>(anchor::scale) << anchor::fraction);
      scaled.put(
          i, exponent > most_exponent && finite ? __builtin_bit_cast(Float, divided) : Float{0});
    }
    found = cuda::warp_or(found);
    if (lane == 0) marks |= found;
    cut(scaled, lane, (anchor::top - 2 - (anchor::bias - anchor::scale)) / anchor::step,
        first_scaled);
  }

  // Notes whether any of the items, which are all zeros or NaNs, is a NaN, or +0.
  template <int N>
  TILEFOLD_D void note_zeros(const registers<Float, N>& items, int lane) {
    bits_type all = sign;
    bits_type any = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      all &= bits_of(items[i]);
      any |= bits_of(items[i]) & ~sign;
    }
    const bool nan = __any_sync(full_warp, any != 0);
    const bool other = __any_sync(full_warp, all == 0);
    const std::uint64_t found = nan     ? seen::nan | seen::other
                                : other ? seen::other
                                        : seen::minus_zero;
    if (lane == 0) marks |= static_cast<unsigned>(found);
  }
};

// A warp's exact sum of halves, or of narrower types of their range: multiples of 2^-24 below 2^16.
// So two digits against one anchor hold any of them, and there is nothing to search:
//
//     h = x + 1.5 * 2^17   rounded to a multiple of 2^-6; the bits of all h are added as integers
//     x - (h - 1.5 * 2^17) the rest, at most 2^-7: floats hold sums of 128 of them exactly
//
// The rests of -0 alone give -0, and of whatever is not finite NaN.

/// A warp's own sums, in shared memory: of multiples of 2^-6, and of rests.
class warp_integers : public warp_words<2> {
 public:
  using number = float;
  static constexpr tile_policy policy = exact_policy_of_halves;
  static constexpr int min_resident_blocks = min_resident_half_blocks;
  __device__ static int exponent(int i) { return i == 0 ? -6 : -24; }

  /// Adds N items of every lane, unless one is not finite. Returns whether it did. All lanes.
  template <int N>
  TILEFOLD_D bool add(const registers<float, N>& items, int lane) {
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

 private:
  // The sum of all lanes' integers.
  TILEFOLD_D static long long sum_of(int mine) {
    const int high = cuda::warp_sum_at_once(mine >> 12);
    const int low = cuda::warp_sum_at_once(mine & 4095);
    return (static_cast<long long>(high) << 12) + low;
  }
};

}  // namespace tilefold::detail::cuda
