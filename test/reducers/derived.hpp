// SPDX-License-Identifier: Apache-2.0
//
// Reducers that a user derives from the library's, each with one part of its own.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "cases.hpp"

namespace tilefold::test {

/// x * x in T; integers wrap.
template <class T>
TILEFOLD_HD T squared(const T& x) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(x));
  } else {
    return x * x;
  }
}

/// Base over the squares of the elements, or of those of the first range. Its last step is a
/// product, as its combine's first may be a sum.
template <class Base>
struct of_squares : Base {
  template <class T, class... Rest>
  TILEFOLD_HD auto lift(const T& value, const Rest&... rest) const {
    return Base::lift(squared(value), rest...);
  }
};

/// Base, but of two nodes the right one counts alone.
template <class Base>
struct of_the_right : Base {
  template <class Acc>
  TILEFOLD_HD Acc combine(const Acc&, const Acc& right) const {
    return right;
  }
};

}  // namespace tilefold::test
