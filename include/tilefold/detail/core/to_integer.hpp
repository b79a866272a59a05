// SPDX-License-Identifier: Apache-2.0
//
// Floating numbers as integers. If the integer type cannot hold the number, the language does not
// say what comes out, and processors differ. Here it is the nearest integer that the type can hold,
// and 0 for NaN, everywhere.
#pragma once

#include <type_traits>

#include <tilefold/config.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/op.hpp>

namespace tilefold::detail {

#if defined(__CUDA_ARCH__)

// The GPU's own conversions stop at the ends of 32 and 64 bits.
template <integer Int>
__device__ __forceinline__ Int bounded_integer(float value) {
  if constexpr (sizeof(Int) == 8) {
    if constexpr (std::is_signed_v<Int>) return static_cast<Int>(__float2ll_rz(value));
    return static_cast<Int>(__float2ull_rz(value));
  } else {
    if constexpr (std::is_signed_v<Int>) return static_cast<Int>(__float2int_rz(value));
    return static_cast<Int>(__float2uint_rz(value));
  }
}
template <integer Int>
__device__ __forceinline__ Int bounded_integer(double value) {
  if constexpr (sizeof(Int) == 8) {
    if constexpr (std::is_signed_v<Int>) return static_cast<Int>(__double2ll_rz(value));
    return static_cast<Int>(__double2ull_rz(value));
  } else {
    if constexpr (std::is_signed_v<Int>) return static_cast<Int>(__double2int_rz(value));
    return static_cast<Int>(__double2uint_rz(value));
  }
}

#endif

template <integer Int, real Real>
TILEFOLD_HD Int nearest_integer(Real value) {
  constexpr auto least = static_cast<Real>(smallest<Int>);
  constexpr auto half_above = static_cast<Real>(largest<Int> / 2 + 1);  // a power of two, so exact
  if (value < least) return smallest<Int>;
  if (value / 2 >= half_above) return largest<Int>;
  return value >= least ? static_cast<Int>(value) : Int{0};
}

/// `value` rounded toward zero, bounded to what Int holds; 0 for NaN.
template <integer Int, real Real>
TILEFOLD_HD Int to_integer(Real value) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Int) > 8) {
    return detail::nearest_integer<Int>(value);
  } else if constexpr (sizeof(Int) < sizeof(int)) {
    return static_cast<Int>(
        detail::bounded(detail::to_integer<int>(value), int{smallest<Int>}, int{largest<Int>}));
  } else if constexpr (sizeof(Int) == 4 && sizeof(Real) == 4) {
    return detail::bounded_integer<Int>(value);  // gives 0 for NaN by itself, unlike the others
  } else {
    return detail::is_nan(value) ? Int{0} : detail::bounded_integer<Int>(value);
  }
#else
  return detail::nearest_integer<Int>(value);
#endif
}

}  // namespace tilefold::detail
