// SPDX-License-Identifier: Apache-2.0
#include "shapes.hpp"

#include <algorithm>
#include <random>

namespace bench {

namespace {

std::vector<std::int64_t> constant_lengths(index mean, index items) {
  const index segments = std::min(items / mean, most_segments);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(segments) + 1);
  for (index s = 0; s <= segments; ++s) offsets[static_cast<std::size_t>(s)] = s * mean;
  return offsets;
}

template <class Length>
std::vector<std::int64_t> random_lengths(index items, Length length) {
  std::mt19937_64 bits(1);
  std::vector<std::int64_t> offsets;
  offsets.reserve(most_segments + 1);
  offsets.push_back(0);
  while (static_cast<index>(offsets.size()) <= most_segments) {
    const index next = offsets.back() + length(bits);
    if (next > items) break;
    offsets.push_back(next);
  }
  return offsets;
}

std::vector<std::int64_t> uniform_lengths(index mean, index items) {
  return random_lengths(items, [=](auto& bits) {
    return static_cast<index>(bits() % static_cast<std::uint64_t>(2 * mean + 1));
  });
}

std::vector<std::int64_t> geometric_lengths(index mean, index items) {
  std::geometric_distribution<index> distribution(1.0 / static_cast<double>(mean + 1));
  return random_lengths(items, [=](auto& bits) mutable { return distribution(bits); });
}

// One of 2^25 items and 2^22 of 8.
std::vector<std::int64_t> one_giant(index, index) {
  std::vector<std::int64_t> offsets{0, index{1} << 25};
  for (int s = 0; s < 1 << 22; ++s) offsets.push_back(offsets.back() + 8);
  return offsets;
}

// Three in ten empty, most of 1 to 8 items, one in ten million of 10^7.
std::vector<std::int64_t> power_law(index, index items) {
  return random_lengths(items, [](auto& bits) -> index {
    const std::uint64_t dice = bits() % 10'000'000;
    if (dice == 0) return 10'000'000;
    return dice < 3'000'000 ? 0 : static_cast<index>(1 + bits() % 8);
  });
}

}  // namespace

std::vector<segment_shape> segment_shapes(bool quick) {
  using lengths = std::vector<index>;
  constexpr index items = index{1} << 30;
  std::vector<segment_shape> all;
  for (const index n :
       quick ? lengths{4, 64, 1024} : lengths{4, 16, 64, 128, 256, 1024, 4096, 65536}) {
    all.push_back({"segments_equal", n, items, &constant_lengths, true});
  }
  for (const index n : quick ? lengths{4, 64, 1024} : lengths{4, 7, 16, 33, 64, 256, 1024, 4096}) {
    all.push_back({"segments_constant", n, items, &constant_lengths, false, true});
    all.push_back({"segments_uniform", n, items, &uniform_lengths, false, true});
    all.push_back({"segments_geometric", n, items, &geometric_lengths, false, true});
  }
  all.push_back({"segments_one_giant", 8, items, &one_giant});
  all.push_back({"segments_power_law", 4, items, &power_law});
  return all;
}

std::vector<segment_shape> struct_shapes(const std::string& type, index items, bool quick) {
  using lengths = std::vector<index>;
  std::vector<segment_shape> all;
  for (const index n : quick ? lengths{64} : lengths{4, 64, 1024}) {
    all.push_back({type + "_segments_equal", n, items, &constant_lengths, true});
    all.push_back({type + "_segments_geometric", n, items, &geometric_lengths, false, true});
  }
  return all;
}

}  // namespace bench
