// SPDX-License-Identifier: Apache-2.0
//
// CUDA's types of 8 bits, and what exact sums of them have to be: all values are multiples of
// 2^-16, so integers are the oracle, and the nearest of 256 numbers is found by looking at all.
#pragma once

#include <cuda_fp8.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace tilefold::test {

/// Bits of the fraction, the exponent's bias, and whether there are infinities.
template <class T>
struct fp8_layout;
template <>
struct fp8_layout<__nv_fp8_e4m3> {
  static constexpr int fraction = 3, bias = 7;
  static constexpr bool has_infinity = false;
  static constexpr int most = 0x7e, nan = 0x7f;
};
template <>
struct fp8_layout<__nv_fp8_e5m2> {
  static constexpr int fraction = 2, bias = 15;
  static constexpr bool has_infinity = true;
  static constexpr int most = 0x7b, nan = 0x7e;
};

template <class T>
T fp8_of(int bits) {
  T x;
  x.__x = static_cast<__nv_fp8_storage_t>(bits);
  return x;
}

/// The bits of any value as text, for messages.
template <class T>
std::string bits_of(const T& x) {
  std::string digits;
  for (std::size_t i = sizeof(T); i-- > 0;) {
    const auto byte = reinterpret_cast<const unsigned char*>(&x)[i];
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return digits;
}

template <class T>
bool is_finite(T x) {
  return (x.__x & 0x7f) <= fp8_layout<T>::most;
}

/// A finite number in units of 2^-16.
template <class T>
std::int64_t units_of(T x) {
  using layout = fp8_layout<T>;
  const int exponent = x.__x >> layout::fraction & ((1 << (7 - layout::fraction)) - 1);
  const int fraction = x.__x & ((1 << layout::fraction) - 1);
  const std::int64_t digits = exponent > 0 ? fraction | 1 << layout::fraction : fraction;
  const int shift = (exponent > 0 ? exponent : 1) - layout::bias - layout::fraction + 16;
  return (x.__x & 0x80) != 0 ? -(digits << shift) : digits << shift;
}

/// The number next to units / (2^16 count); of two the even one. What is beyond the largest is
/// infinity, from half a step on; where there is none, the largest.
template <class T>
T nearest(std::int64_t units, std::int64_t count = 1) {
  const std::int64_t size = std::abs(units);
  int best = 0;
  for (int bits = 1; bits <= fp8_layout<T>::most; ++bits) {
    // Both are >= 0, so that this is the middle of them.
    const std::int64_t middle = units_of(fp8_of<T>(bits - 1)) + units_of(fp8_of<T>(bits));
    const bool is_nearer =
        2 * size > middle * count || (2 * size == middle * count && bits % 2 == 0);
    if (is_nearer) best = bits;
  }
  if constexpr (fp8_layout<T>::has_infinity) {
    // The largest is odd, so that the tie goes to infinity. Its neighbours are as far apart as it
    // would be from the next number.
    const std::int64_t largest = units_of(fp8_of<T>(fp8_layout<T>::most));
    const std::int64_t step = largest - units_of(fp8_of<T>(fp8_layout<T>::most - 1));
    if (2 * size >= (2 * largest + step) * count) best = fp8_layout<T>::most + 1;
  }
  return fp8_of<T>(units < 0 ? best | 0x80 : best);
}

/// What an exact sum of the items is.
template <class T>
T sum_of_fp8(const std::vector<T>& items) {
  std::int64_t units = 0;
  bool nan = false;
  bool infinite[2] = {false, false};
  bool all_minus_zero = !items.empty();
  for (const T x : items) {
    all_minus_zero = all_minus_zero && x.__x == 0x80;
    if (is_finite(x)) {
      units += units_of(x);
    } else if (fp8_layout<T>::has_infinity && (x.__x & 0x7f) == fp8_layout<T>::most + 1) {
      infinite[x.__x >> 7] = true;
    } else {
      nan = true;
    }
  }
  // The library's NaN of e5m2, which has six of them.
  if (nan || (infinite[0] && infinite[1])) return fp8_of<T>(fp8_layout<T>::nan);
  if (infinite[0]) return fp8_of<T>(fp8_layout<T>::most + 1);
  if (infinite[1]) return fp8_of<T>((fp8_layout<T>::most + 1) | 0x80);
  return all_minus_zero ? fp8_of<T>(0x80) : nearest<T>(units);
}

/// n items: any finite ones; one in `special` any bits at all, none if that is 0.
template <class T>
std::vector<T> fp8_items(std::size_t n, unsigned special, std::mt19937_64& random) {
  std::vector<T> items;
  while (items.size() < n) {
    const T x = fp8_of<T>(static_cast<int>(random() % 256));
    if (is_finite(x) || (special > 0 && random() % special == 0)) items.push_back(x);
  }
  return items;
}

/// All pairs of the 256 values, one behind the other.
template <class T>
std::vector<T> all_pairs_of_fp8() {
  std::vector<T> pairs;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      pairs.push_back(fp8_of<T>(a));
      pairs.push_back(fp8_of<T>(b));
    }
  }
  return pairs;
}

}  // namespace tilefold::test
