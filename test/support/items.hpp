// SPDX-License-Identifier: Apache-2.0
//
// Items that make an order of evaluation, a wrong identity or a lost special value visible in the
// result's bits: mixed magnitudes and signs that cancel, NaNs, infinities, zeros, subnormals. Made
// from integer arithmetic on bit patterns, so they are the same on every machine.
#pragma once

#include <array>
#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <tilefold/half.hpp>

#include "oracle.hpp"

namespace tilefold::test {

enum class pattern {
  mixed,      // magnitudes over many binades, both signs, cancelling
  near_one,   // both signs, so that products stay finite
  nan_first,  // one NaN with a payload among finite items
  nan_middle,
  nan_last,
  many_nans,        // different payloads and signs, quiet and signalling
  one_infinity,     // of one sign
  both_infinities,  // sums make a NaN of their own
  zeros,            // +0 and -0
  negative_zeros,   // -0 alone: a +0 from nowhere shows
  subnormals,       // and the smallest normal numbers: a flush to zero shows
  any_bits,         // every bit pattern of the type
};

inline const char* name_of(pattern p) {
  static constexpr const char* names[] = {
      "mixed",        "near_one",        "nan_first", "nan_middle",     "nan_last",   "many_nans",
      "one_infinity", "both_infinities", "zeros",     "negative_zeros", "subnormals", "any_bits"};
  return names[static_cast<int>(p)];
}

/// How a binary floating type is laid out; 0 exponent bits for every other type.
template <class T>
struct float_layout {
  static constexpr int exponent_bits = 0;
};
template <int Exponent, int Significand, class Bits>
struct ieee_layout {
  using bits = Bits;
  static constexpr int exponent_bits = Exponent;
  static constexpr int significand_bits = Significand;
};
template <>
struct float_layout<float> : ieee_layout<8, 23, std::uint32_t> {};
template <>
struct float_layout<double> : ieee_layout<11, 52, std::uint64_t> {};
template <>
struct float_layout<half> : ieee_layout<5, 10, std::uint16_t> {};
template <>
struct float_layout<bfloat16> : ieee_layout<8, 7, std::uint16_t> {};

template <class T>
concept layout_known = float_layout<T>::exponent_bits > 0;

/// Two reals next to each other: std::complex and its twins.
template <class T>
concept two_reals = std::is_class_v<T> && requires {
  typename T::value_type;
  requires layout_known<typename T::value_type>;
  requires sizeof(T) == 2 * sizeof(typename T::value_type);
};

/// A plain struct of N words, of any size; what users fold with operators of their own.
template <class Word, int N>
struct words {
  Word word[N];
};
template <class T>
inline constexpr bool is_words = false;
template <class Word, int N>
inline constexpr bool is_words<words<Word, N>> = true;

template <layout_known T>
T composed(bool negative, std::uint64_t exponent, std::uint64_t significand) {
  using layout = float_layout<T>;
  using bits = typename layout::bits;
  constexpr std::uint64_t fraction = (std::uint64_t{1} << layout::significand_bits) - 1;
  const std::uint64_t all = (std::uint64_t{negative} << (8 * sizeof(bits) - 1)) |
                            (exponent << layout::significand_bits) | (significand & fraction);
  return std::bit_cast<T>(static_cast<bits>(all));
}

template <layout_known T>
T negated(T x) {
  using bits = typename float_layout<T>::bits;
  return std::bit_cast<T>(
      static_cast<bits>(std::bit_cast<bits>(x) ^ (bits{1} << (8 * sizeof(bits) - 1))));
}

template <layout_known T>
T float_item(pattern p, bit_stream& random, std::int64_t i, std::int64_t n) {
  constexpr std::uint64_t special = (std::uint64_t{1} << float_layout<T>::exponent_bits) - 1;
  constexpr std::uint64_t bias = special / 2;
  const bool negative = (random.next() & 1) != 0;
  const std::uint64_t significand = random.next();
  // 2^-12..2^12, and as much as a half has room for.
  const std::int64_t spread = bias > 15 ? 12 : 7;
  const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(bias) +
                                                   random.below(2 * spread + 1) - spread);
  const T finite = composed<T>(negative, exponent, significand);
  const T nan = composed<T>(negative, special, significand | 1);
  const T infinity = composed<T>(false, special, 0);
  switch (p) {
    case pattern::mixed:
      return finite;
    case pattern::near_one:
      return composed<T>(negative, bias - (significand >> 63), significand);
    case pattern::nan_first:
      return i == 0 ? nan : finite;
    case pattern::nan_middle:
      return i == n / 2 ? nan : finite;
    case pattern::nan_last:
      return i == n - 1 ? nan : finite;
    case pattern::many_nans:
      return random.one_in(4) ? nan : finite;
    case pattern::one_infinity:
      return i == n / 3 ? infinity : finite;
    case pattern::both_infinities:
      return random.one_in(5) ? (negative ? negated(infinity) : infinity) : finite;
    case pattern::zeros:
      return composed<T>(negative, 0, 0);
    case pattern::negative_zeros:
      return composed<T>(true, 0, 0);
    case pattern::subnormals:
      return composed<T>(negative, random.one_in(8) ? 1 : 0, significand);
    case pattern::any_bits:
      return std::bit_cast<T>(static_cast<typename float_layout<T>::bits>(random.next()));
  }
  return finite;
}

template <class T>
std::vector<T> make_items(pattern p, std::int64_t n, std::uint64_t seed = 1);

template <layout_known T>
std::vector<T> make_floats(pattern p, std::int64_t n, std::uint64_t seed) {
  bit_stream random(seed);
  std::vector<T> items;
  for (std::int64_t i = 0; i < n; ++i) {
    items.push_back(float_item<T>(p, random, i, n));
    // Takes back what stands anywhere before: sums lose leading bits, differently in each order.
    if (p == pattern::mixed && random.one_in(2)) {
      items.back() = negated(items[static_cast<std::size_t>(random.below(i + 1))]);
    }
  }
  return items;
}

template <class T>
T integer_item(bit_stream& random) {
  if constexpr (std::same_as<T, bool>) {
    return (random.next() & 1) != 0;
  } else {
    return static_cast<T>(random.next());
  }
}

/// n items of type T. Types without special values ignore the pattern.
template <class T>
std::vector<T> make_items(pattern p, std::int64_t n, std::uint64_t seed) {
  if constexpr (layout_known<T>) {
    return make_floats<T>(p, n, seed);
  } else if constexpr (two_reals<T>) {
    using real = typename T::value_type;
    // Both components special at once and each alone.
    const auto re = make_floats<real>(p, n, seed);
    const auto im = make_floats<real>(p, n + 1, seed + 1);
    std::vector<T> items;
    for (std::size_t i = 0; i < re.size(); ++i) items.emplace_back(re[i], im[i]);
    return items;
  } else if constexpr (is_words<T>) {
    using word = std::remove_cvref_t<decltype(T{}.word[0])>;
    constexpr std::size_t count = sizeof(T) / sizeof(word);
    const auto flat = make_items<word>(p, n * static_cast<std::int64_t>(count), seed);
    std::vector<T> items(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < flat.size(); ++i) items[i / count].word[i % count] = flat[i];
    return items;
  } else {
    static_assert(std::integral<T>);
    bit_stream random(seed);
    std::vector<T> items;
    for (std::int64_t i = 0; i < n; ++i) items.push_back(integer_item<T>(random));
    return items;
  }
}

/// The patterns that say something about type T.
template <class T>
std::vector<pattern> patterns_of() {
  if constexpr (layout_known<T> || two_reals<T>) {
    std::vector<pattern> all;
    for (int p = 0; p <= static_cast<int>(pattern::any_bits); ++p) {
      all.push_back(static_cast<pattern>(p));
    }
    return all;
  } else {
    // User operators do not promise which NaN they return, so their floats stay finite.
    return {pattern::mixed};
  }
}

}  // namespace tilefold::test
