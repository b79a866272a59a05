// SPDX-License-Identifier: Apache-2.0
//
// e^x of a float as a power of two and a factor about one, to 25 bits, in a dozen float operations.
// Fused operations are written as function calls, so that each is rounded once everywhere, and host
// and device agree to the bit.
#pragma once

#include <cstdint>

#include <tilefold/detail/core/real_math.hpp>
#include <tilefold/op.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail {

/// 2^exponent (1 + fraction).
struct split_power {
  std::int32_t exponent;
  float fraction;
};

/// e^r - 1 for |r| <= 0.348, to 2^-25 of e^r (measured for all floats up to ln 2 / 2: 2^-25.1): r +
/// r^2 (c[0] + c[1] r + ... + c[4] r^4), of such the closest to it in units of e^r: 2^-28.
TILEFOLD_HD inline float exponential_less_one(float r) {
  float q = 0x1.6a14d4p-10f;
  q = fused_sum(q, r, 0x1.12432ap-7f);
  q = fused_sum(q, r, 0x1.55592cp-5f);
  q = fused_sum(q, r, 0x1.555488p-3f);
  q = fused_sum(q, r, 0x1.fffffcp-2f);
  return fused_sum(rounded_product(r, r), q, r);
}

inline constexpr float float_log2_e = 0x1.715476p0f;
inline constexpr float float_ln2 = 0x1.62e430p-1f;

/// x = exponent ln 2 + rest, |rest| <= 0.348.
///
/// This ln 2 has the bits of a float and is too large by 2^-29, so that e^x comes out smaller by
/// that for each unit of the exponent; of two of them it is the difference that matters. In return
/// the rest is exact: it is a multiple of 2^-25 as both its terms are, or x itself.
struct reduced_argument {
  std::int32_t exponent;
  float rest;
};

// At this size a float's last bit is worth one.
inline constexpr float integer_shift = 0x1.8p23f;

/// For |x| <= 2^17; exponents are counted from `origin` on, less than 2^22 away. (No x is half-way
/// between two exponents, so that the origin does not tell which one is taken.)
TILEFOLD_HD inline reduced_argument reduce_near(float x, std::int32_t origin = 0) {
  const float shift = rounded_sum(integer_shift, -static_cast<float>(origin));
  const float shifted = fused_sum(x, float_log2_e, shift);
  const float k = rounded_sum(shifted, -shift);
  return {
      __builtin_bit_cast(std::int32_t, shifted) - __builtin_bit_cast(std::int32_t, integer_shift),
      fused_sum(k, -float_ln2, x)};
}

/// The exponent of all x from 2^29 on, where two floats are so far apart that only the greater one
/// counts; lower x have a lower one. Differences of exponents do not overflow.
inline constexpr float far_away = 0x1p29f;
inline constexpr std::int32_t far_exponent = 1000000000;

/// For every x; something for a NaN.
TILEFOLD_HD inline reduced_argument reduce_any(float x) {
  if (magnitude(x) <= 0x1p17f) return detail::reduce_near(x);
  if (!(magnitude(x) < far_away)) return {x > 0 ? far_exponent : -far_exponent, 0.0f};
  constexpr auto ln2 = static_cast<double>(float_ln2);
  const auto y = static_cast<double>(x);
  const double k = nearest_integer(rounded_product(y, 1.0 / ln2));
  return {static_cast<std::int32_t>(k), static_cast<float>(fused_sum(k, -ln2, y))};
}

/// e^x for every x but NaN.
TILEFOLD_HD inline split_power split_exponential_inline(float x) {
  const reduced_argument y = detail::reduce_any(x);
  return {y.exponent, detail::exponential_less_one(y.rest)};
}

/// x, or b if that is greater; NaN if x is.
TILEFOLD_HD inline float not_below(float x, float b) {
#if defined(__CUDA_ARCH__)
  return detail::extreme<true, true>(x, b);
#else
  return x < b ? b : x;
#endif
}

/// x * 2^k, a normal number as x is; on a host also a NaN for a NaN.
TILEFOLD_HD inline double times_power(double x, std::int32_t k) {
#if defined(__CUDA_ARCH__)
  // The upper word alone, in one instruction.
  const auto high = static_cast<unsigned>(__double2hiint(x)) + (static_cast<unsigned>(k) << 20);
  return __hiloint2double(static_cast<int>(high), __double2loint(x));
#else
  return x * detail::power_of_two(k);
#endif
}

template <int Begin, int Count, int N>
TILEFOLD_HD double tree_of_sums(const double (&terms)[N]) {
  if constexpr (Count == 1) {
    return terms[Begin];
  } else {
    return rounded_sum(detail::tree_of_sums<Begin, Count / 2>(terms),
                       detail::tree_of_sums<Begin + Count / 2, Count / 2>(terms));
  }
}

/// The tree of additions of e^x[0], e^x[1]... as doubles, in units of 2^exponent, which is that of
/// the greatest, `max`; |max| <= 2^16. What is more than 600 below counts as if it were not more.
/// NaN if an x is. N is a power of two. Loops for vector instructions, where there are some.
template <int N>
TILEFOLD_HD double sum_of_exponentials_inline(const float (&x)[N], float max,
                                              std::int32_t exponent) {
  const float least = rounded_sum(max, -600.0f);
  double terms[N];
  TILEFOLD_UNROLL()
  for (int i = 0; i < N; ++i) {
    const reduced_argument y = detail::reduce_near(detail::not_below(x[i], least), exponent);
    const auto fraction = static_cast<double>(detail::exponential_less_one(y.rest));
    terms[i] = detail::times_power(rounded_sum(1.0, fraction), y.exponent);
  }
  return detail::tree_of_sums<0, N>(terms);
}

// Code for every x86 processor calls a library for each fused operation, with the same bits but ten
// times as slowly. So it asks for the instruction.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__FMA__) && !defined(__CUDA_ARCH__)
#define TILEFOLD_ASKS_FOR_FMA 1
[[gnu::target("avx2,fma"), gnu::flatten, gnu::noinline]] inline split_power
split_exponential_by_fma(float x) {
  return detail::split_exponential_inline(x);
}
template <int N>
[[gnu::target("avx2,fma"), gnu::flatten, gnu::noinline]] double sum_of_exponentials_by_fma(
    const float (&x)[N], float max, std::int32_t exponent) {
  return detail::sum_of_exponentials_inline(x, max, exponent);
}
inline bool has_fma() { return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"); }
#endif

TILEFOLD_HD inline split_power split_exponential(float x) {
#if defined(TILEFOLD_ASKS_FOR_FMA)
  if (detail::has_fma()) return detail::split_exponential_by_fma(x);
#endif
  return detail::split_exponential_inline(x);
}

template <int N>
TILEFOLD_HD double sum_of_exponentials(const float (&x)[N], float max, std::int32_t exponent) {
#if defined(TILEFOLD_ASKS_FOR_FMA)
  if (detail::has_fma()) return detail::sum_of_exponentials_by_fma(x, max, exponent);
#endif
  return detail::sum_of_exponentials_inline(x, max, exponent);
}

#undef TILEFOLD_ASKS_FOR_FMA

}  // namespace tilefold::detail

TILEFOLD_WARNINGS_BACK
