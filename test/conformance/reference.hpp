// SPDX-License-Identifier: Apache-2.0
//
// What the library's operators mean, written down a second time from their definitions (IEEE
// 754-2019, integers modulo 2^bits), and the fold of a case by the oracle. Host code only.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "../support/items.hpp"
#include "../support/oracle.hpp"

namespace tilefold::test::reference {

// Through memory, so that no compiler keeps more precision or fuses two operations.
template <class T>
T rounded(T x) {
  volatile T stored = x;
  return stored;
}

/// Floating types of 16 bits are added and multiplied in float and rounded back.
template <class T>
concept narrow = layout_known<T> && sizeof(T) == 2;

struct plus {
  template <class T>
  T operator()(const T& a, const T& b) const {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    } else if constexpr (narrow<T>) {
      return T(rounded(static_cast<float>(a) + static_cast<float>(b)));
    } else if constexpr (two_reals<T>) {
      return T(rounded(a.real() + b.real()), rounded(a.imag() + b.imag()));
    } else {
      return rounded(a + b);
    }
  }
};

struct multiplies {
  template <class T>
  T operator()(const T& a, const T& b) const {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    } else if constexpr (narrow<T>) {
      return T(rounded(static_cast<float>(a) * static_cast<float>(b)));
    } else if constexpr (two_reals<T>) {
      const auto re = rounded(a.real() * b.real()) - rounded(a.imag() * b.imag());
      const auto im = rounded(a.real() * b.imag()) + rounded(a.imag() * b.real());
      return T(rounded(re), rounded(im));
    } else {
      return rounded(a * b);
    }
  }
};

template <class T>
bool is_nan(const T& x) {
  if constexpr (std::integral<T>) {
    return false;
  } else {
    return std::isnan(static_cast<double>(static_cast<std::conditional_t<narrow<T>, float, T>>(x)));
  }
}

// a < b, with -0 < +0; neither is NaN.
template <class T>
bool below(const T& a, const T& b) {
  if constexpr (std::integral<T>) {
    return a < b;
  } else {
    using wide = std::conditional_t<narrow<T>, float, T>;
    const wide x = static_cast<wide>(a);
    const wide y = static_cast<wide>(b);
    return x < y || (x == y && std::signbit(x) && !std::signbit(y));
  }
}

template <bool Larger, bool NanIsMissing>
struct selection {
  template <class T>
  T operator()(const T& a, const T& b) const {
    if (is_nan(a)) return NanIsMissing ? b : a;
    if (is_nan(b)) return NanIsMissing ? a : b;
    return below(a, b) == Larger ? b : a;
  }
};
using minimum = selection<false, false>;
using maximum = selection<true, false>;
using minimum_number = selection<false, true>;
using maximum_number = selection<true, true>;

struct bit_and {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct bit_or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct bit_xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct logical_and {
  bool operator()(bool a, bool b) const { return a && b; }
};
struct logical_or {
  bool operator()(bool a, bool b) const { return a || b; }
};

/// The one NaN that results have: quiet, positive, no payload.
template <class T>
T with_one_nan(const T& x) {
  if constexpr (layout_known<T>) {
    constexpr std::uint64_t special = (std::uint64_t{1} << float_layout<T>::exponent_bits) - 1;
    constexpr std::uint64_t quiet = std::uint64_t{1} << (float_layout<T>::significand_bits - 1);
    return is_nan(x) ? composed<T>(false, special, quiet) : x;
  } else if constexpr (two_reals<T>) {
    return T(with_one_nan(x.real()), with_one_nan(x.imag()));
  } else {
    return x;
  }
}

// A 16-bit value converts by way of float, which holds it exactly.
template <class Acc, class T>
Acc lifted(const T& item) {
  if constexpr (narrow<T> && !std::same_as<Acc, T>) {
    return static_cast<Acc>(static_cast<float>(item));
  } else {
    return static_cast<Acc>(item);
  }
}

/// The fold of `items` in accumulator type Acc by the oracle.
template <class Acc, class Op, class Items>
Acc fold(Op op, const Items& items) {
  using value = typename Items::value_type;
  std::vector<Acc> accumulators;
  for (const value& item : items) accumulators.push_back(lifted<Acc>(item));
  return with_one_nan(neighbour_tree(op, std::move(accumulators)));
}

}  // namespace tilefold::test::reference
