// SPDX-License-Identifier: Apache-2.0
//
// Numbers that compute in ways of their own, so that one generated operator serves three times: as
// the library is given it, as the oracle evaluates it, and as a compiler that fuses would.
#pragma once

#include <cmath>
#include <type_traits>

#include <tilefold/config.hpp>

namespace tilefold::test::net {

/// Every operation goes through memory, so that no compiler fuses two of them.
template <class T>
struct stored {
  T value;

  stored() = default;
  TILEFOLD_HD constexpr stored(T x) : value(x) {}
  template <class U>
  TILEFOLD_HD explicit stored(const stored<U>& other) : value(static_cast<T>(other.value)) {}

  friend TILEFOLD_HD stored operator+(const stored& a, const stored& b) {
    volatile T sum = a.value + b.value;
    return sum;
  }
  friend TILEFOLD_HD stored operator*(const stored& a, const stored& b) {
    volatile T product = a.value * b.value;
    return product;
  }
  friend TILEFOLD_HD bool operator<(const stored& a, const stored& b) { return a.value < b.value; }
};

/// A leak on purpose: a product is not rounded before the sum that takes it, however far apart the
/// two stand.
template <class T>
struct fusing {
  T value;
  T x, y;
  bool product;

  fusing() = default;
  TILEFOLD_HD constexpr fusing(T z) : value(z), x(0), y(0), product(false) {}
  template <class U>
  TILEFOLD_HD explicit fusing(const fusing<U>& other) : fusing(static_cast<T>(other.value)) {}

  friend TILEFOLD_HD fusing operator+(const fusing& a, const fusing& b) {
    if (a.product) return std::fma(a.x, a.y, b.value);
    if (b.product) return std::fma(b.x, b.y, a.value);
    volatile T sum = a.value + b.value;
    return sum;
  }
  friend TILEFOLD_HD fusing operator*(const fusing& a, const fusing& b) {
    volatile T rounded = a.value * b.value;
    fusing all(rounded);
    all.x = a.value;
    all.y = b.value;
    all.product = true;
    return all;
  }
  friend TILEFOLD_HD bool operator<(const fusing& a, const fusing& b) { return a.value < b.value; }
};

/// What a number is called in an arithmetic.
struct as_written {
  template <class T>
  using real = T;
};
struct through_memory {
  template <class T>
  using real = stored<T>;
};
struct as_if_fused {
  template <class T>
  using real = fusing<T>;
};

template <class T>
TILEFOLD_HD T plain(const T& x)
  requires(std::is_floating_point_v<T>)
{
  return x;
}
template <class T>
TILEFOLD_HD T plain(const stored<T>& x) {
  return x.value;
}
template <class T>
TILEFOLD_HD T plain(const fusing<T>& x) {
  return x.value;
}

}  // namespace tilefold::test::net
