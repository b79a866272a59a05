// SPDX-License-Identifier: Apache-2.0
//
// Ways to cut items into segments: one length, lengths that are constant, uniform or geometric, or
// very uneven.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/contestant.hpp"

namespace bench {

// 4 GiB of floats.
inline constexpr index most_segment_items = index{1} << 30;
inline constexpr index most_segments = index{1} << 25;

struct segment_shape {
  std::string name;
  index items_per_segment;
  std::vector<std::int64_t> (*offsets)(index mean);
  bool equal;  // lengths, so that offsets need not be read
};

std::vector<segment_shape> segment_shapes();

}  // namespace bench
