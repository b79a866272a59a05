// SPDX-License-Identifier: Apache-2.0
//
// Integers of many words, and the one rounding that turns them into floating numbers. All of it is
// integer arithmetic, so its bits are the same everywhere.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tilefold/half.hpp>
#include <tilefold/op.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail {

/// The two words of a product.
struct double_word {
  std::uint64_t low;
  std::uint64_t high;
};

TILEFOLD_HD inline double_word wide_product(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return {a * b, __umul64hi(a, b)};
#else
  __extension__ using wide = unsigned __int128;
  const wide product = static_cast<wide>(a) * b;
  return {static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64)};
#endif
}

/// How many zero bits stand before the first one of x > 0.
TILEFOLD_HD inline int leading_zeros(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
  return __clzll(static_cast<long long>(x));
#else
  return __builtin_clzll(x);
#endif
}

/// A positive real number: the mantissa, whose highest bit is set, times 2^exponent; `more` if the
/// number is larger than that, by less than 2^exponent.
struct leading_bits {
  std::uint64_t mantissa;
  int exponent;
  bool more;
};

template <int Words>
TILEFOLD_HD bool all_zero(const std::uint64_t (&word)[Words]) {
  std::uint64_t any = 0;
  TILEFOLD_UNROLL(Words <= 12 ? Words : 1)
  for (int i = 0; i < Words; ++i) any |= word[i];
  return any == 0;
}

/// A signed integer in two's complement, the least word first. It wraps.
template <int Words>
struct wide_integer {
  std::uint64_t word[Words];

  TILEFOLD_HD bool is_negative() const { return (word[Words - 1] >> 63) != 0; }
  TILEFOLD_HD bool is_zero() const { return detail::all_zero(word); }

  TILEFOLD_HD void add(const wide_integer& other) {
    std::uint64_t carry = 0;
    TILEFOLD_UNROLL(Words <= 12 ? Words : 1)
    for (int i = 0; i < Words; ++i) {
      const std::uint64_t with_carry = word[i] + carry;
      carry = with_carry < carry ? 1 : 0;
      word[i] = with_carry + other.word[i];
      carry += word[i] < with_carry ? 1 : 0;
    }
  }

  /// Adds magnitude * 2^bit, or takes it off. The product fits.
  TILEFOLD_HD void add_shifted(const double_word& magnitude, int bit, bool takes_off) {
    const int shift = bit % 64;
    const std::uint64_t carried = shift == 0 ? 0 : magnitude.low >> (64 - shift);
    const std::uint64_t parts[3] = {magnitude.low << shift, magnitude.high << shift | carried,
                                    shift == 0 ? 0 : magnitude.high >> (64 - shift)};
    std::uint64_t carry = 0;
    for (int i = 0; bit / 64 + i < Words && (i < 3 || carry != 0); ++i) {
      std::uint64_t& target = word[bit / 64 + i];
      const std::uint64_t part = i < 3 ? parts[i] : 0;
      const std::uint64_t before = target;
      // part + carry is 2^64 at most, and then 0 with a carry of its own.
      const std::uint64_t change = part + carry;
      const bool wraps = change < part;
      target = takes_off ? before - change : before + change;
      carry = wraps || (takes_off ? before < change : target < change) ? 1 : 0;
    }
  }

  /// |x| as an unsigned integer.
  TILEFOLD_HD wide_integer magnitude() const {
    const std::uint64_t flip = is_negative() ? ~std::uint64_t{0} : 0;
    wide_integer result;
    std::uint64_t carry = flip & 1;
    TILEFOLD_UNROLL(Words <= 12 ? Words : 1)
    for (int i = 0; i < Words; ++i) {
      result.word[i] = (word[i] ^ flip) + carry;
      carry = carry != 0 && result.word[i] == 0 ? 1 : 0;
    }
    return result;
  }

  /// The highest bits of an unsigned integer > 0, whose lowest bit is worth 2^least.
  TILEFOLD_HD leading_bits top(int least) const {
    // Without an index that varies, so that the words may be registers.
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::uint64_t rest = 0;
    int at = 0;
    TILEFOLD_UNROLL(Words <= 12 ? Words : 1)
    for (int i = Words - 1; i >= 0; --i) {
      if (first == 0) {
        first = word[i];
        at = i;
      } else if (i == at - 1) {
        second = word[i];
      } else {
        rest |= word[i];
      }
    }
    const int zeros = detail::leading_zeros(first);
    const std::uint64_t mantissa = zeros == 0 ? first : first << zeros | second >> (64 - zeros);
    return {mantissa, least + 64 * at - zeros, (second << zeros | rest) != 0};
  }
};

/// (2^64 rest + next) / divisor, where rest < divisor < 2^63; `rest` becomes what is left.
TILEFOLD_HD inline std::uint64_t divide_next(std::uint64_t& rest, std::uint64_t next,
                                             std::uint64_t divisor) {
  if (divisor >> 32 == 0) {
    // Half a word at a time: then a division of 64 bits is enough.
    const std::uint64_t upper = rest << 32 | next >> 32;
    const std::uint64_t high = upper / divisor;
    const std::uint64_t lower = (upper - high * divisor) << 32 | (next & 0xffffffffu);
    const std::uint64_t low = lower / divisor;
    rest = lower - low * divisor;
    return high << 32 | low;
  }
  // A bit at a time: plain, and seldom needed.
  std::uint64_t bits = 0;
  TILEFOLD_UNROLL(1)
  for (int b = 63; b >= 0; --b) {
    rest = rest << 1 | (next >> b & 1);
    const bool fits = rest >= divisor;
    if (fits) rest -= divisor;
    bits = bits << 1 | (fits ? 1 : 0);
  }
  return bits;
}

/// x / divisor of an unsigned integer > 0 whose lowest bit is worth 2^least; 0 < divisor < 2^63.
template <int Words>
TILEFOLD_HD leading_bits quotient(const wide_integer<Words>& x, std::uint64_t divisor, int least) {
  // Two more words below, so that the quotient has 64 bits at least.
  wide_integer<Words + 2> result{};
  std::uint64_t rest = 0;
  TILEFOLD_UNROLL()
  for (int i = Words + 1; i >= 0; --i) {
    const std::uint64_t next = i >= 2 ? x.word[i - 2] : 0;
    result.word[i] = detail::divide_next(rest, next, divisor);
  }
  leading_bits top = result.top(least - 128);
  top.more = top.more || rest != 0;
  return top;
}

/// The root of an unsigned integer > 0 whose lowest bit is worth 2^least.
template <int Words>
TILEFOLD_HD leading_bits square_root(const wide_integer<Words>& x, int least) {
  // The highest 127 or 128 bits, so that the root has 64: high and low, and what is below them.
  const leading_bits high = x.top(least);
  wide_integer<Words + 2> padded{};
  for (int i = 0; i < Words; ++i) padded.word[i + 2] = x.word[i];
  // The exponent of the lowest of the 128 bits, made even by taking one bit fewer.
  int lowest = high.exponent - 64;
  const bool odd = (lowest & 1) != 0;
  if (odd) ++lowest;
  const int bit = lowest - least + 128;  // in `padded`
  const auto word_at = [&](int at) {
    const int i = at / 64;
    const int shift = at % 64;
    const std::uint64_t upper = i + 1 < Words + 2 ? padded.word[i + 1] : 0;
    return shift == 0 ? padded.word[i] : padded.word[i] >> shift | upper << (64 - shift);
  };
  std::uint64_t low = word_at(bit);
  std::uint64_t top = word_at(bit + 64);
  bool more = false;
  for (int i = 0; i < bit / 64; ++i) more = more || padded.word[i] != 0;
  if (bit % 64 != 0) more = more || padded.word[bit / 64] << (64 - bit % 64) != 0;
  // The root, a bit at a time, from the highest pair of bits on: rest < 2 root + 1 < 2^66 before
  // each step, so it is kept in two words.
  std::uint64_t root = 0;
  std::uint64_t rest_low = 0;
  std::uint64_t rest_high = 0;
  for (int step = 0; step < 64; ++step) {
    rest_high = rest_high << 2 | rest_low >> 62;
    rest_low = rest_low << 2 | top >> 62;
    top = top << 2 | low >> 62;
    low <<= 2;
    // Tries 4 root + 1.
    const std::uint64_t try_low = root << 2 | 1;
    const std::uint64_t try_high = root >> 62;
    const bool fits = rest_high > try_high || (rest_high == try_high && rest_low >= try_low);
    if (fits) {
      rest_high -= try_high + (rest_low < try_low ? 1 : 0);
      rest_low -= try_low;
    }
    root = root << 1 | (fits ? 1 : 0);
  }
  const int zeros = detail::leading_zeros(root);
  return {root << zeros, lowest / 2 - zeros, more || rest_low != 0 || rest_high != 0};
}

enum class rounding {
  to_nearest,
  // Inexact results get an odd last bit: rounded once more, to a type with two bits less or
  // narrower, they are as if they had been rounded once.
  to_odd,
};

/// The floating number for a positive real.
template <std::floating_point T>
TILEFOLD_HD T rounded(const leading_bits& x, rounding how) {
  static_assert(std::same_as<T, float> || std::same_as<T, double>);
  using bits_type = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr int digits = sizeof(T) == 4 ? 24 : 53;
  constexpr int least = sizeof(T) == 4 ? -149 : -1074;  // of subnormals
  constexpr std::uint64_t infinity =
      sizeof(T) == 4 ? std::uint64_t{0xff} << 23 : std::uint64_t{0x7ff} << 52;
  // The result is a multiple of 2^unit: so many bits of the mantissa are dropped.
  const int normal = x.exponent + 64 - digits;
  const int unit = normal < least ? least : normal;
  const int dropped = unit - x.exponent;
  std::uint64_t kept = dropped < 64 ? x.mantissa >> dropped : 0;
  const bool half = dropped <= 64 && (x.mantissa >> (dropped - 1) & 1) != 0;
  const bool rest =
      x.more ||
      (dropped > 64 ? true : (x.mantissa & ((std::uint64_t{1} << (dropped - 1)) - 1)) != 0);
  if (how == rounding::to_odd) {
    kept |= half || rest ? 1 : 0;
  } else {
    kept += half && (rest || (kept & 1) != 0) ? 1 : 0;
  }
  // Exponent and fraction in one sum: a kept of 2^digits carries into the exponent.
  const std::uint64_t bits = (static_cast<std::uint64_t>(unit - least) << (digits - 1)) + kept;
  const std::uint64_t most = how == rounding::to_odd ? infinity - 1 : infinity;
  return __builtin_bit_cast(T, static_cast<bits_type>(bits < infinity ? bits : most));
}

/// A float rounded to T, to nearest. CUDA's own conversions to e5m2 saturate, although it has
/// infinities; e4m3 has none.
template <class T>
TILEFOLD_HD T narrowed(float x) {
  if constexpr (std::is_same_v<T, ::__nv_fp8_e5m2>) {
    // Half a step beyond the largest number, 57344; a tie goes to the even one.
    if (x >= 61440.0f) return __builtin_bit_cast(T, std::uint8_t{0x7c});
    if (x <= -61440.0f) return __builtin_bit_cast(T, std::uint8_t{0xfc});
  }
  return static_cast<T>(x);
}

/// A number of these leading bits and this sign, rounded to T, any floating type of the library's.
template <class T>
TILEFOLD_HD T rounded_real(const leading_bits& x, bool negative) {
  if constexpr (is_narrow_float<T>) {
    const auto size = detail::rounded<float>(x, rounding::to_odd);
    return detail::narrowed<T>(negative ? -size : size);
  } else {
    const auto size = detail::rounded<T>(x, rounding::to_nearest);
    return negative ? -size : size;
  }
}

}  // namespace tilefold::detail

TILEFOLD_WARNINGS_BACK
