// SPDX-License-Identifier: Apache-2.0
//
// Items for tests of executors, and their sum in the fixed order.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/conformance.hpp"

namespace tilefold::test {

inline std::vector<float> mixed(std::int64_t n, std::uint64_t seed = 1) {
  return make_items<float>(pattern::mixed, n, seed);
}

inline float folded(const std::vector<float>& items) {
  return reference::fold<float>(reference::plus{}, items);
}

}  // namespace tilefold::test
