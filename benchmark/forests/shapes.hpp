// SPDX-License-Identifier: Apache-2.0
//
// Ways to cut items into segments: one length, lengths that are constant, uniform or geometric, or
// very uneven.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../support/contestant.hpp"

namespace bench {

inline constexpr index most_segments = index{1} << 25;

struct segment_shape {
  std::string name;
  index mean;   // items of a segment
  index items;  // of all, at most
  std::vector<std::int64_t> (*offsets)(index mean, index items);
  bool equal = false;    // lengths, so that offsets need not be read
  bool bounded = false;  // the longest is not much longer than the mean, and the caller knows it
};

/// Of floats, 4 GiB; fewer if `quick`.
std::vector<segment_shape> segment_shapes(bool quick);

/// Of `items` structs; names begin with `type`.
std::vector<segment_shape> struct_shapes(const std::string& type, index items, bool quick);

}  // namespace bench
