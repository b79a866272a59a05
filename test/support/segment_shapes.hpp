// SPDX-License-Identifier: Apache-2.0
//
// Segments: where each begins and ends, and the lengths that tests of them ask for. Host code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "order.hpp"
#include "random.hpp"

namespace tilefold::test {

using segments = std::vector<std::pair<std::int64_t, std::int64_t>>;  // begin, end

/// Segments one after the other from item `begin` on, as offsets describe them.
inline segments in_a_row(const std::vector<std::int64_t>& lengths, std::int64_t begin = 0) {
  segments all;
  for (const std::int64_t length : lengths) {
    all.emplace_back(begin, begin + length);
    begin += length;
  }
  return all;
}

/// `count` of one length.
inline segments of_length(std::int64_t count, std::int64_t length, std::int64_t begin = 0) {
  return in_a_row(std::vector<std::int64_t>(static_cast<std::size_t>(count), length), begin);
}

/// One item behind the last of all.
inline std::int64_t end_of(const segments& all) {
  std::int64_t end = 0;
  for (const auto& [begin, behind] : all) end = std::max(end, behind);
  return end;
}

/// 0 to 300, those around powers of two up to 2^17, and 40 random ones; ascending.
inline std::vector<std::int64_t> every_length(std::uint64_t seed) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 0; n <= 300; ++n) lengths.push_back(n);
  for (const std::int64_t n : landmark_sizes(17, 40, seed)) {
    if (n > 300) lengths.push_back(n);
  }
  for (std::int64_t power = 512; power <= 32768; power *= 2) {
    for (const std::int64_t near : {-17, 9}) lengths.push_back(power + near);
  }
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

/// Lengths of segments that are all alike.
inline std::vector<std::int64_t> equal_lengths() {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 0; n <= 140; ++n) lengths.push_back(n);
  for (std::int64_t power = 256; power <= 32768; power *= 2) {
    for (const std::int64_t near : {-17, -1, 0, 1, 9}) lengths.push_back(power + near);
  }
  for (const std::int64_t n : {1000, 16400, 40000, 60000, 65536, 65537, 100001, 131072, 1 << 20}) {
    lengths.push_back(n);
  }
  return lengths;
}

/// Many short ones below 2^level, some empty, some long and a few very long: 300,000 of them, or as
/// many as have 3,000,000 items.
inline std::vector<std::int64_t> many_lengths(shape_stream& random, int level) {
  std::vector<std::int64_t> lengths;
  std::int64_t total = 0;
  while (lengths.size() < 300000 && total < 3000000) {
    std::int64_t length = random.below(std::int64_t{1} << level);
    if (random.one_in(5)) length = 0;
    if (random.one_in(50000)) length = 100000 + random.below(100000);
    if (random.one_in(5000)) length = random.below(20000);
    lengths.push_back(length);
    total += length;
  }
  return lengths;
}

/// Lengths of the segments of one call, `count` of them, 0 <= length <= longest; of one of five
/// kinds: all alike, uniform, geometric, a few long ones among short ones, and mostly none.
inline std::vector<std::int64_t> random_lengths(shape_stream& random, std::int64_t count,
                                                std::int64_t longest) {
  const auto of_any_magnitude = [&] {
    return random.below((std::int64_t{1} << random.below(21)) + 1);
  };
  const std::int64_t kind = random.below(5);
  const std::int64_t all_alike = random.below(longest + 1);
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t length = all_alike;
    if (kind == 1) length = random.below(longest + 1);
    if (kind == 2) length = of_any_magnitude();
    if (kind == 3) length = random.one_in(20) ? random.below(longest + 1) : random.below(9);
    if (kind == 4) length = random.one_in(4) ? of_any_magnitude() : 0;
    lengths.push_back(std::min(length, longest));
  }
  return lengths;
}

/// `count` and an empty one, anywhere among n items: with gaps, on top of each other, in any order.
inline segments anywhere(shape_stream& random, std::int64_t count, std::int64_t n) {
  segments all;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = random.below(n);
    const std::int64_t longest = std::min<std::int64_t>(n - begin, count < 40 ? n : 200);
    all.emplace_back(begin, begin + random.below(longest));
  }
  all.emplace_back(5, 5);
  return all;
}

}  // namespace tilefold::test
