// SPDX-License-Identifier: Apache-2.0
//
// The smaller and the larger of numbers, and signs, for sizes. (<algorithm> has them, and costs
// every file that includes tilefold 0.2 s of nvcc's time.)
#pragma once

#include <tilefold/config.hpp>

namespace tilefold::detail {

template <class T>
TILEFOLD_HD constexpr T smaller(T a, T b) {
  return b < a ? b : a;
}

template <class T>
TILEFOLD_HD constexpr T larger(T a) {
  return a;
}
template <class T, class... More>
TILEFOLD_HD constexpr T larger(T a, T b, More... more) {
  return detail::larger(a < b ? b : a, more...);
}

/// The number closest to x that is not below `low` nor above `high`; low <= high. (The other way
/// round, max(min(x, high), 0) == high comes out true for 0 <= x < high, too: ptxas of CUDA 13.0
/// for sm_90 and sm_100 makes it one VIMNMX.RELU and takes the wrong predicate.)
template <class T>
TILEFOLD_HD constexpr T bounded(T x, T low, T high) {
  return detail::smaller(detail::larger(low, x), high);
}

/// Whether x < 0, which compilers warn of where it cannot be.
template <class T>
TILEFOLD_HD constexpr bool is_negative(T x) {
  if constexpr (static_cast<T>(-1) < static_cast<T>(0)) {
    return x < 0;
  } else {
    return false;
  }
}

}  // namespace tilefold::detail
