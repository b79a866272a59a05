// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on reals that has the same bits on host and device: one rounding an operation, nothing
// fused that is not written as fused, and exp and log made of such operations (maths libraries
// disagree about theirs). Rounding is to nearest even; subnormals are kept.
#pragma once

#include <concepts>
#include <cstdint>

#include <tilefold/op.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail {

TILEFOLD_HD inline double rounded_quotient(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __ddiv_rn(a, b);
#else
  return a / b;
#endif
}

TILEFOLD_HD inline double rounded_sqrt(double x) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_rn(x);
#else
  return __builtin_sqrt(x);
#endif
}

/// sqrt(a b) for a, b >= 0, also where the product leaves the range of a double.
TILEFOLD_HD inline double root_of_product(double a, double b) {
  const double product = rounded_product(a, b);
  if (product > 0x1p-900 && product < 0x1p1000) return rounded_sqrt(product);
  return rounded_product(rounded_sqrt(a), rounded_sqrt(b));
}

/// a * b + c, rounded once.
template <real T>
TILEFOLD_HD inline T fused_sum(T a, T b, T c) {
  static_assert(std::same_as<T, float> || std::same_as<T, double>);
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) return __fmaf_rn(a, b, c);
  if constexpr (sizeof(T) == 8) return __fma_rn(a, b, c);
#else
  if constexpr (sizeof(T) == 4) return __builtin_fmaf(a, b, c);
  if constexpr (sizeof(T) == 8) return __builtin_fma(a, b, c);
#endif
}

template <real T>
TILEFOLD_HD T magnitude(T x) {
  if constexpr (std::same_as<T, float>) {
    return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, x) & 0x7fffffffu);
  } else if constexpr (std::same_as<T, double>) {
    return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, x) & 0x7fffffffffffffffu);
  } else {
    return x < 0 ? -x : x;
  }
}

/// 2^k, -1022 <= k <= 1023.
TILEFOLD_HD inline double power_of_two(std::int64_t k) {
  return __builtin_bit_cast(double, (k + 1023) << 52);
}

/// x as the nearest integer, |x| < 2^51.
TILEFOLD_HD inline double nearest_integer(double x) {
  const double shift = 0x1.8p52;  // at this size a double's last bit is worth one
  return rounded_sum(rounded_sum(x, shift), -shift);
}

/// c[0] + x (c[1] + x (c[2] + ...)).
template <int N>
TILEFOLD_HD double horner(double x, const double (&c)[N]) {
  double value = c[N - 1];
  TILEFOLD_UNROLL()
  for (int i = N - 2; i >= 0; --i) value = rounded_sum(c[i], rounded_product(x, value));
  return value;
}

// ln 2 in two parts; the first has 32 bits, so that its product with an exponent is exact.
inline constexpr double ln2_high = 0x1.62e42feep-1;
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;

/// a * b + c where the product is exact, so that it is no matter whether it is rounded.
TILEFOLD_HD inline double exact_product_sum(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(a, b, c);
#else
  return rounded_sum(c, rounded_product(a, b));
#endif
}

/// factor * 2^exponent
struct scaled_number {
  double factor;
  std::int64_t exponent;
};

/// e^x for -745.2 <= x <= 709.79, its factor near 1. Something for others, a NaN among them.
///
/// x = k ln 2 + r with |r| <= ln 2 / 2, and e^r as 1 + r + r^2 / 2! + ... + r^13 / 13!, whose
/// remainder is below 2^-57. No branches, so that several can be computed side by side.
TILEFOLD_HD inline scaled_number scaled_exponential(double x) {
  const double shift = 0x1.8p52;  // at this size a double's last bit is worth one
  const double shifted = rounded_sum(rounded_product(x, 0x1.71547652b82fep0), shift);
  const double k = rounded_sum(shifted, -shift);
  const double high = exact_product_sum(k, -ln2_high, x);
  const double low = rounded_product(k, ln2_low);
  const double r = rounded_sum(high, -low);
  const double lost = rounded_sum(rounded_sum(high, -r), -low);
  constexpr double c[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                          1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                          1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  const double tail = rounded_sum(rounded_product(rounded_product(r, r), horner(r, c)), lost);
  return {rounded_sum(1.0, rounded_sum(r, tail)),
          __builtin_bit_cast(std::int64_t, shifted) - __builtin_bit_cast(std::int64_t, shift)};
}

/// e^x within 1 ulp (measured: 0.87); exact at 0 and the infinities.
TILEFOLD_HD inline double exponential(double x) {
  if (x != x) return nan<double>;
  if (x > 709.79) return infinity<double>;
  if (x < -745.2) return 0.0;
  const scaled_number e = detail::scaled_exponential(x);
  // In two steps: 2^k alone may be subnormal or overflow where the result does not.
  const std::int64_t half = e.exponent / 2;
  return rounded_product(rounded_product(e.factor, power_of_two(half)),
                         power_of_two(e.exponent - half));
}

/// exponential(x) for x <= 0, or a NaN for a NaN, without branches.
TILEFOLD_HD inline double falling_exponential(double x) {
  const bool vanishes = x < -745.2;
  // Subnormal numbers are slow on some machines, so nothing vanishes on the way.
  const scaled_number e = detail::scaled_exponential(vanishes ? 0.0 : x);
  // In two steps again, of which the first is exact: an addition to the exponent.
  const std::int64_t first = e.exponent < -1000 ? -1000 : e.exponent;
  const std::uint64_t bits =
      __builtin_bit_cast(std::uint64_t, e.factor) + (static_cast<std::uint64_t>(first) << 52);
  const double power =
      rounded_product(__builtin_bit_cast(double, bits), power_of_two(e.exponent - first));
  return x != x ? x : vanishes ? 0.0 : power;
}

/// ln x within 1 ulp (measured: 0.93); -infinity at 0, NaN below it.
///
/// x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), s = f / (2 + f), and
/// ln(1 + f) = 2 artanh s = f - s (f - 2 s^2 (1/3 + s^2 / 5 + ... + s^20 / 23)), whose remainder is
/// below 2^-58.
TILEFOLD_HD inline double logarithm(double x) {
  if (x != x || x < 0.0) return nan<double>;
  if (x == 0.0) return -infinity<double>;
  if (x == infinity<double>) return x;
  std::int64_t k = 0;
  if (x < 0x1p-1022) {
    x = rounded_product(x, 0x1p54);
    k = -54;
  }
  // The bits of x less those of sqrt(1/2): what is left above the significand is the exponent.
  const auto bits = __builtin_bit_cast(std::int64_t, x);
  const std::int64_t root_half = 0x3fe6a09e667f3bcd;
  const std::int64_t exponent = (bits - root_half) >> 52;
  k += exponent;
  const double f = rounded_sum(__builtin_bit_cast(double, bits - (exponent << 52)), -1.0);
  const double s = rounded_quotient(f, rounded_sum(2.0, f));
  const double z = rounded_product(s, s);
  constexpr double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                          2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
  const double rest = rounded_product(z, horner(z, c));
  const double bend = rounded_product(s, rounded_sum(f, -rest));
  const auto multiple = static_cast<double>(k);
  const double tail = rounded_sum(bend, -rounded_product(multiple, ln2_low));
  return rounded_sum(rounded_product(multiple, ln2_high), rounded_sum(f, -tail));
}

}  // namespace tilefold::detail

TILEFOLD_WARNINGS_BACK
