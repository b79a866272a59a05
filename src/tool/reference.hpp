// SPDX-License-Identifier: Apache-2.0
//
// What --check compares with: the operators written a second time, without the library, on the
// widest type of each kind, with the operator chosen at run time. It is slow, and few template
// instantiations. Plain C++ that nvcc reads too.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <tilefold/config.hpp>

#include "tables.hpp"

namespace tilefold::tool {

template <class Real>
struct reference_complex {
  Real re, im;
};

template <class T>
inline constexpr bool is_reference_complex = false;
template <class Real>
inline constexpr bool is_reference_complex<reference_complex<Real>> = true;

// IEEE 754-2019: -0 is less than +0. NaN is dealt with by the callers.
template <class Real>
TILEFOLD_HD bool reference_less(Real a, Real b) {
  if constexpr (std::is_integral_v<Real>) {
    return a < b;
  } else {
    return a < b || (a == b && __builtin_signbit(a) != 0 && __builtin_signbit(b) == 0);
  }
}

template <class Real>
TILEFOLD_HD Real reference_extreme(op_kind op, Real a, Real b) {
  const bool number = op == op_kind::minimum_number || op == op_kind::maximum_number;
  const bool smallest = op == op_kind::minimum || op == op_kind::minimum_number;
  if (a != a) return number ? b : a;
  if (b != b) return number ? a : b;
  return reference_less(a, b) == smallest ? a : b;
}

/// op(a, b) for T in int64, uint64, float, double, long double and the complex ones. The caller
/// makes sure that the operator fits the type.
template <class T>
TILEFOLD_HD T reference_combine(op_kind op, T a, T b) {
  if constexpr (is_reference_complex<T>) {
    if (op == op_kind::sum) return {a.re + b.re, a.im + b.im};
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  } else if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    switch (op) {
      case op_kind::sum:
        return static_cast<T>(x + y);
      case op_kind::product:
        return static_cast<T>(x * y);
      case op_kind::bit_and:
        return static_cast<T>(x & y);
      case op_kind::bit_or:
        return static_cast<T>(x | y);
      case op_kind::bit_xor:
        return static_cast<T>(x ^ y);
      default:
        return reference_extreme(op, a, b);
    }
  } else {
    if (op == op_kind::sum) return a + b;
    if (op == op_kind::product) return a * b;
    return reference_extreme(op, a, b);
  }
}

/// An item widened to T.
template <class T, class Item>
TILEFOLD_HD T reference_lift(const Item& item) {
  if constexpr (is_reference_complex<T>) {
    using real = decltype(T::re);
    const auto z = __builtin_bit_cast(reference_complex<typename Item::value_type>, item);
    return {static_cast<real>(z.re), static_cast<real>(z.im)};
  } else if constexpr (is_narrow_float<Item>) {
    return static_cast<T>(static_cast<float>(item));
  } else {
    return static_cast<T>(item);
  }
}

}  // namespace tilefold::tool
