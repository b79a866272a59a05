// SPDX-License-Identifier: Apache-2.0
//
// Random shapes of forests: how long the segments of one call are. What the tests of the host and
// of the GPU share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace tilefold::test {

/// Lengths of the segments of one call, `count` of them, 0 <= length <= longest; of one of five
/// kinds: all alike, uniform, geometric, a few long ones among short ones, and mostly none.
inline std::vector<std::int64_t> random_lengths(std::mt19937_64& bits, std::int64_t count,
                                                std::int64_t longest) {
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>((bits() >> 1) % static_cast<std::uint64_t>(bound));
  };
  const auto of_any_magnitude = [&] { return below((std::int64_t{1} << below(21)) + 1); };
  const std::int64_t kind = below(5);
  const std::int64_t all_alike = below(longest + 1);
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t length = all_alike;
    if (kind == 1) length = below(longest + 1);
    if (kind == 2) length = of_any_magnitude();
    if (kind == 3) length = below(20) == 0 ? below(longest + 1) : below(9);
    if (kind == 4) length = below(4) == 0 ? of_any_magnitude() : 0;
    lengths.push_back(std::min(length, longest));
  }
  return lengths;
}

}  // namespace tilefold::test
