// SPDX-License-Identifier: Apache-2.0
//
// Runs of keys for the tests of reduce_by_key: lengths of many shapes, keys that make such runs
// under an equality that is not ==, and the serial oracle. Uses nothing of the library but
// TILEFOLD_HD.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tilefold/config.hpp>

#include "oracle.hpp"
#include "order.hpp"

namespace tilefold::test {

/// Not ==: the last digit does not count.
struct same_tens {
  TILEFOLD_HD bool operator()(int a, int b) const { return a / 10 == b / 10; }
};

/// Neither symmetric nor transitive: a run is what ascends by less than ten at each step.
struct ascends_gently {
  TILEFOLD_HD bool operator()(int a, int b) const { return a <= b && b < a + 10; }
};

/// Keys with runs of these lengths (>= 1) under same_tens. The same keys come back later.
inline std::vector<int> keys_of_runs(const std::vector<std::int64_t>& lengths, std::uint64_t seed) {
  shape_stream bits(seed);
  std::vector<int> keys;
  for (std::size_t run = 0; run < lengths.size(); ++run) {
    const int tens = static_cast<int>(run % 3) * 10;
    for (std::int64_t i = 0; i < lengths[run]; ++i) {
      keys.push_back(tens + static_cast<int>(bits() % 10));
    }
  }
  return keys;
}

/// Lengths of runs that make n items together: length(bits) says the next.
template <class Length>
std::vector<std::int64_t> lengths_of(std::int64_t n, std::uint64_t seed, Length length) {
  shape_stream bits(seed);
  std::vector<std::int64_t> lengths;
  while (n > 0) {
    lengths.push_back(std::clamp<std::int64_t>(length(bits), 1, n));
    n -= lengths.back();
  }
  return lengths;
}

/// A mixture of lengths, of which the seed decides how short and how long they are.
inline std::vector<std::int64_t> random_lengths(std::int64_t n, std::uint64_t seed) {
  const int short_level = static_cast<int>(seed % 11);
  const auto rare = 1 + seed / 11 % 200;
  return lengths_of(n, seed, [=](shape_stream& bits) {
    const int level = bits() % rare == 0 ? 13 : short_level;
    return static_cast<std::int64_t>(bits() >> (63 - level)) / 2 + 1;
  });
}

/// Most of 1 to 8 items, one in a thousand of thousands, one in a hundred thousand of more.
inline std::vector<std::int64_t> power_law_lengths(std::int64_t n, std::uint64_t seed) {
  return lengths_of(n, seed, [](shape_stream& bits) -> std::int64_t {
    const auto dice = bits() % 100000;
    if (dice == 0) return 200000;
    if (dice < 100) return static_cast<std::int64_t>(bits() % 5000);
    return static_cast<std::int64_t>(1 + bits() % 8);
  });
}

/// What reduce_by_key has to make of keys, under `equal`: where runs begin, serially.
template <class Key, class Equal>
std::vector<std::int64_t> heads_of(const std::vector<Key>& keys, Equal equal) {
  std::vector<std::int64_t> heads;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    if (j == 0 || !equal(keys[j - 1], keys[j])) heads.push_back(static_cast<std::int64_t>(j));
  }
  return heads;
}

/// The hash of the tree over items [begin, end) that are their own index, after `initial`.
inline lifted_hash hash_of_run(const lifted_hash& initial, std::int64_t begin, std::int64_t end) {
  running_fold<lifted_node_hash, lifted_hash> fold(lifted_node_hash{});
  for (std::int64_t i = begin; i < end; ++i) fold.push(lifted_hash(leaf_hash(i)));
  return lifted_node_hash{}(initial, fold.value());
}

}  // namespace tilefold::test
