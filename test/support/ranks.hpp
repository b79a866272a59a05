// SPDX-License-Identifier: Apache-2.0
//
// How tests cut a sequence into the parts of ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "random.hpp"

namespace tilefold::test {

/// Where the parts of n items begin, and n: 0 = c[0] <= ... <= c[parts] = n. Of a few shapes: parts
/// of one length; all items in one part; cuts anywhere, often where another is or beside it.
inline std::vector<std::int64_t> random_cuts(shape_stream& bits, std::int64_t n, int parts) {
  std::vector<std::int64_t> cuts{0, n};
  const std::int64_t shape = bits.below(5);
  for (int i = 1; i < parts; ++i) {
    const auto other = static_cast<std::size_t>(bits.below(static_cast<std::int64_t>(cuts.size())));
    const std::int64_t at = shape == 0       ? n * i / parts
                            : shape == 1     ? (bits.one_in(2) ? 0 : n)
                            : bits.one_in(3) ? cuts[other] + bits.below(3) - 1
                                             : bits.below(n + 1);
    cuts.push_back(std::clamp(at, std::int64_t{0}, n));
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

}  // namespace tilefold::test
