// SPDX-License-Identifier: Apache-2.0
//
// Items of every dynamic range: what an exact sum costs depends on it.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "../support/items.cuh"

namespace bench {

/// A standard normal number, by Box and Muller.
TILEFOLD_HD inline double gaussian(index i) {
  const std::uint64_t random = scrambled(i);
  const double u = (static_cast<double>(random >> 32) + 0.5) * 0x1p-32;
  const double v = static_cast<double>(random & 0xffffffffu) * 0x1p-32;
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

template <class T>
TILEFOLD_HD T narrowed(double x) {
  if constexpr (sizeof(T) == 2) {
    return static_cast<T>(static_cast<float>(x));
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
struct normal_items {
  using item = T;
  TILEFOLD_HD static T at(index i) { return narrowed<T>(gaussian(i)); }
};

/// In [0, 1).
template <class T>
struct uniform_items {
  using item = T;
  TILEFOLD_HD static T at(index i) {
    constexpr int digits = sizeof(T) == 8 ? 53 : sizeof(T) == 4 ? 24 : 11;
    return narrowed<T>(std::ldexp(static_cast<double>(scrambled(i) >> (64 - digits)), -digits));
  }
};

/// Of both signs; sigma is 5: 2^+-7 is usual, 2^+-40 is there.
template <class T>
struct lognormal_items {
  using item = T;
  TILEFOLD_HD static T at(index i) {
    const double size = exp(5 * gaussian(i));
    return narrowed<T>(scrambled(~i) & 1 ? -size : size);
  }
};

/// Both signs, and exponents drawn from `binades` of them around 1.
template <class T>
TILEFOLD_HD T log_uniform(index i, int binades) {
  const std::uint64_t random = scrambled(i);
  if constexpr (sizeof(T) == 8) {
    return __builtin_bit_cast(T, float_bits<std::uint64_t>(random, 52, 1023, binades));
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, float_bits<std::uint32_t>(random, 23, 127, binades));
  } else if constexpr (std::is_same_v<T, tilefold::half>) {
    return __builtin_bit_cast(T, float_bits<std::uint16_t>(random, 10, 15, binades));
  } else {
    return __builtin_bit_cast(T, float_bits<std::uint16_t>(random, 7, 127, binades));
  }
}

/// Of which squares are floats as well.
struct root_items {
  using item = float;
  TILEFOLD_HD static float at(index i) { return log_uniform<float>(i, 100); }
};

template <class T>
struct log_uniform_items {
  using item = T;
  static constexpr int binades = sizeof(T) == 8                      ? 1600
                                 : std::is_same_v<T, tilefold::half> ? 28
                                                                     : 200;
  TILEFOLD_HD static T at(index i) { return log_uniform<T>(i, binades); }
};

}  // namespace bench
