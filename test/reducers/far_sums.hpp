// SPDX-License-Identifier: Apache-2.0
//
// Doubles whose sums leave the range of a double, while their mean does not.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "../support/random.hpp"

namespace tilefold::test {

/// Of both signs, `huge` of ten near the largest double; others are anything down to 2^-900, or 0.
inline std::vector<double> far_items(bit_stream& random, std::int64_t n, int huge) {
  std::vector<double> x;
  const bool positive = random.one_in(2);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto exponent =
        random.below(10) < huge ? 970 : static_cast<int>(random.below(1870)) - 952;
    const double size = std::ldexp(static_cast<double>(random.next() >> 11), exponent);
    x.push_back(random.one_in(50) ? 0.0 : positive || random.one_in(2) ? size : -size);
  }
  return x;
}

}  // namespace tilefold::test
