// SPDX-License-Identifier: Apache-2.0
#include "segment_shapes.hpp"

#include <algorithm>
#include <random>

namespace bench {

namespace {

std::vector<std::int64_t> constant_lengths(index mean) {
  const index segments = std::min(most_segment_items / mean, most_segments);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(segments) + 1);
  for (index s = 0; s <= segments; ++s) offsets[static_cast<std::size_t>(s)] = s * mean;
  return offsets;
}

template <class Length>
std::vector<std::int64_t> random_lengths(Length length) {
  std::mt19937_64 bits(1);
  std::vector<std::int64_t> offsets;
  offsets.reserve(most_segments + 1);
  offsets.push_back(0);
  while (static_cast<index>(offsets.size()) <= most_segments) {
    const index next = offsets.back() + length(bits);
    if (next > most_segment_items) break;
    offsets.push_back(next);
  }
  return offsets;
}

std::vector<std::int64_t> uniform_lengths(index mean) {
  return random_lengths([=](auto& bits) {
    return static_cast<index>(bits() % static_cast<std::uint64_t>(2 * mean + 1));
  });
}

std::vector<std::int64_t> geometric_lengths(index mean) {
  std::geometric_distribution<index> distribution(1.0 / static_cast<double>(mean + 1));
  return random_lengths([=](auto& bits) mutable { return distribution(bits); });
}

// One of 2^25 items and 2^22 of 8.
std::vector<std::int64_t> one_giant(index) {
  std::vector<std::int64_t> offsets{0, index{1} << 25};
  for (int s = 0; s < 1 << 22; ++s) offsets.push_back(offsets.back() + 8);
  return offsets;
}

// Three in ten empty, most of 1 to 8 items, one in ten million of 10^7.
std::vector<std::int64_t> power_law(index) {
  return random_lengths([](auto& bits) -> index {
    const std::uint64_t dice = bits() % 10'000'000;
    if (dice == 0) return 10'000'000;
    return dice < 3'000'000 ? 0 : static_cast<index>(1 + bits() % 8);
  });
}

}  // namespace

std::vector<segment_shape> segment_shapes() {
  std::vector<segment_shape> all;
  for (const index n : {4, 16, 64, 128, 256, 1024, 4096, 65536}) {
    all.push_back({"segments_equal", n, &constant_lengths, true});
  }
  for (const index n : {4, 7, 16, 33, 64, 256, 1024, 4096}) {
    all.push_back({"segments_constant", n, &constant_lengths, false});
    all.push_back({"segments_uniform", n, &uniform_lengths, false});
    all.push_back({"segments_geometric", n, &geometric_lengths, false});
  }
  all.push_back({"segments_one_giant", 8, &one_giant, false});
  all.push_back({"segments_power_law", 4, &power_law, false});
  return all;
}

}  // namespace bench
