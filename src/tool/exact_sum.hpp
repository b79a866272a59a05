// SPDX-License-Identifier: Apache-2.0
//
// A sum of 64-bit integers that cannot overflow: 128 bits in two words. Plain C++ that nvcc reads
// too.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <tilefold/config.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold::tool {

struct exact_sum {
  std::uint64_t low;
  std::uint64_t high;  // in two's complement

  /// All its digits.
  std::string decimal() const;
};

struct exact_sum_reducer {
  using reducer_concept = reducer_tag;
  static constexpr bool commutative = true;
  static constexpr bool order_free = true;
  static constexpr bool separately_rounded = true;

  template <class Integer>
  TILEFOLD_HD exact_sum lift(const Integer& value) const {
    const bool negative = std::is_signed_v<Integer> && value < Integer{0};
    return {static_cast<std::uint64_t>(value), negative ? ~std::uint64_t{0} : std::uint64_t{0}};
  }
  TILEFOLD_HD exact_sum combine(const exact_sum& a, const exact_sum& b) const {
    const std::uint64_t low = a.low + b.low;
    return {low, a.high + b.high + (low < a.low ? 1 : 0)};
  }
  TILEFOLD_HD exact_sum project(const exact_sum& sum) const { return sum; }
};

}  // namespace tilefold::tool
