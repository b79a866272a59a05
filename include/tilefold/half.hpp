// SPDX-License-Identifier: Apache-2.0
//
// Which types are numbers, whatever the compiler's language mode; 16-bit floating storage types
// that need no CUDA header; and the narrow floating types that the library knows (CUDA's own among
// them, by forward declaration, so that what a template means never depends on which headers came
// first). Conversions are exact to float and round to nearest even from float, bit for bit the same
// on host and device.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tilefold/config.hpp>

struct __half;
struct __nv_bfloat16;
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;

namespace tilefold {

/// IEEE 754 binary16 as storage: convert to float to compute.
struct half {
  std::uint16_t bits;

  half() = default;
  TILEFOLD_HD explicit half(float value);
  TILEFOLD_HD explicit operator float() const;
};

/// bfloat16 (the upper half of a binary32) as storage: convert to float to compute.
struct bfloat16 {
  std::uint16_t bits;

  bfloat16() = default;
  TILEFOLD_HD explicit bfloat16(float value);
  TILEFOLD_HD explicit operator float() const {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
  }
};

namespace detail {

#if defined(__SIZEOF_INT128__)
__extension__ using signed_128 = __int128;
__extension__ using unsigned_128 = unsigned __int128;
template <class T>
inline constexpr bool is_128_bit_integer = std::is_same_v<std::remove_cv_t<T>, signed_128> ||
                                           std::is_same_v<std::remove_cv_t<T>, unsigned_128>;
#else
template <class T>
inline constexpr bool is_128_bit_integer = false;
#endif

/// std::integral, and __int128 in every mode (std::integral knows it in -std=gnu++20 alone).
template <class T>
concept integer = std::integral<T> || is_128_bit_integer<T>;

template <class T>
concept signed_integer = integer<T> && static_cast<T>(-1) < static_cast<T>(0);

template <class T>
struct made_unsigned : std::make_unsigned<T> {};
#if defined(__SIZEOF_INT128__)
template <class T>
  requires is_128_bit_integer<T>
struct made_unsigned<T> {
  using type = unsigned_128;
};
#endif
/// std::make_unsigned_t, of __int128 in every mode.
template <integer T>
using made_unsigned_t = typename made_unsigned<T>::type;

/// A number of the compiler that the standard library does not know.
template <class T>
concept unknown_number = !std::is_class_v<T> && !std::is_union_v<T> && !std::is_enum_v<T> &&
                         !std::is_arithmetic_v<T> && !integer<T> && requires(const T& x) {
                           static_cast<T>(0.5f);
                           static_cast<float>(x);
                           { x / x < x } -> std::same_as<bool>;
                         };

/// A floating type of the compiler, also one that the standard library does not know: _Float16,
/// __bf16 and __float128, which are std::float16_t and the like in C++23. clang's _BitInt is none.
template <class T>
concept compiler_float = std::floating_point<T> ||
                         (unknown_number<T> && static_cast<float>(static_cast<T>(0.5f)) > 0.0f);

/// The digits of a significand of a float of 16 bits: 11 of binary16, 8 of bfloat16.
template <class T>
inline constexpr int digits_of_16_bits = 0;
template <compiler_float T>
  requires(sizeof(T) == 2)
inline constexpr int digits_of_16_bits<T> =
    static_cast<float>(static_cast<T>(1.0f + 0x1p-10f)) > 1.0f ? 11 : 8;

template <class T>
inline constexpr bool is_half =
    std::is_same_v<T, half> || std::is_same_v<T, ::__half> || digits_of_16_bits<T> == 11;
template <class T>
inline constexpr bool is_bfloat16 =
    std::is_same_v<T, bfloat16> || std::is_same_v<T, ::__nv_bfloat16> || digits_of_16_bits<T> == 8;

}  // namespace detail

template <class T>
inline constexpr bool is_narrow_float =
    detail::is_half<T> || detail::is_bfloat16<T> || std::is_same_v<T, ::__nv_fp8_e4m3> ||
    std::is_same_v<T, ::__nv_fp8_e5m2>;

namespace detail {

/// A floating type that computes in itself.
template <class T>
concept real = compiler_float<T> && !is_narrow_float<T>;

template <class T>
concept floating = real<T> || is_narrow_float<T>;

/// A type whose values are exact in float.
template <class T>
concept exact_in_float = std::same_as<T, float> || is_narrow_float<T>;

/// Numbers whose arithmetic the library knows.
template <class T>
concept number = integer<T> || floating<T>;

TILEFOLD_HD inline std::uint16_t half_bits_from_float(float value) {
  const auto f = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t sign = (f >> 16) & 0x8000u;
  const std::uint32_t magnitude = f & 0x7fffffffu;
  std::uint32_t h;
  if (magnitude > 0x7f800000u) {
    h = 0x7e00u;  // NaN: one quiet pattern, no payload
  } else if (magnitude >= 0x477ff000u) {
    h = 0x7c00u;  // 65520 and above round to infinity
  } else if (magnitude >= 0x38800000u) {
    // Normal: rebias the exponent by 127 - 15 and round the 13 lost bits to nearest even.
    const std::uint32_t rebased = magnitude - 0x38000000u;
    h = (rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13;
  } else if (magnitude > 0x33000000u) {
    // Subnormal half: the significand shifted to units of 2^-24, rounded to nearest even.
    const std::uint32_t shift = 126u - (magnitude >> 23);
    const std::uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t kept = significand >> shift;
    const std::uint32_t lost = significand & ((1u << shift) - 1u);
    const std::uint32_t halfway = 1u << (shift - 1u);
    h = kept + ((lost > halfway || (lost == halfway && (kept & 1u))) ? 1u : 0u);
  } else {
    h = 0;  // at most half the smallest subnormal: rounds to zero
  }
  return static_cast<std::uint16_t>(sign | h);
}

TILEFOLD_HD inline float float_from_half_bits(std::uint16_t h) {
#if defined(__CUDA_ARCH__)
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
#else
  const std::uint32_t sign = (h & 0x8000u) << 16;
  const std::uint32_t exponent = (h >> 10) & 0x1fu;
  const std::uint32_t significand = h & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(significand) * 0x1p-24f;  // exact
    return __builtin_bit_cast(float, sign | __builtin_bit_cast(std::uint32_t, magnitude));
  }
  const std::uint32_t rebased = exponent == 31 ? 255u : exponent + 112u;
  return __builtin_bit_cast(float, sign | (rebased << 23) | (significand << 13));
#endif
}

}  // namespace detail

TILEFOLD_HD inline half::half(float value) : bits(detail::half_bits_from_float(value)) {}

TILEFOLD_HD inline half::operator float() const { return detail::float_from_half_bits(bits); }

TILEFOLD_HD inline bfloat16::bfloat16(float value) {
  const auto f = __builtin_bit_cast(std::uint32_t, value);
  const bool nan = (f & 0x7fffffffu) > 0x7f800000u;
  const std::uint32_t rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
  bits = nan ? std::uint16_t{0x7fc0} : static_cast<std::uint16_t>(rounded);
}

}  // namespace tilefold
