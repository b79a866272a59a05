// SPDX-License-Identifier: Apache-2.0
//
// What the tests of warp_fold and block_fold share: operators whose results spell out their tree,
// in accumulators of each kind that the folds treat differently, and the trees to expect.
#pragma once

#include <cstdint>
#include <vector>

#include "order.hpp"

namespace tilefold::test {

/// 16 bytes and not commutative. leaf(k, i) is item i of fold k.
struct long_hash_case {
  using value = tree_hash;
  using op = node_hash;
  TILEFOLD_HD static value leaf(int k, int i) { return leaf_hash(k * 100'000 + i); }
};

/// One register and not commutative.
struct short_hash_case {
  using value = std::uint32_t;
  using op = short_node_hash;
  TILEFOLD_HD static value leaf(int k, int i) {
    return static_cast<value>(mixed_bits(static_cast<std::uint64_t>(k * 100'000 + i)));
  }
};

/// Two registers and not commutative.
struct wide_node_hash {
  TILEFOLD_HD std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return mixed_bits(a + 0x9e3779b97f4a7c15u * b);
  }
};
struct wide_hash_case {
  using value = std::uint64_t;
  using op = wide_node_hash;
  TILEFOLD_HD static value leaf(int k, int i) {
    return mixed_bits(static_cast<std::uint64_t>(k * 100'000 + i));
  }
};

/// Commutative, so that lanes need not tell left from right.
struct swappable_hash_case {
  using value = lifted_hash;
  using op = swappable_node_hash;
  TILEFOLD_HD static value leaf(int k, int i) { return leaf_hash(k * 100'000 + i); }
};

/// trees[k][n - 1] is fold k of its first n items, n = 1, ..., most.
template <class Case>
std::vector<std::vector<typename Case::value>> expected_trees(int folds, int most) {
  std::vector<std::vector<typename Case::value>> trees;
  for (int k = 0; k < folds; ++k) {
    trees.push_back(prefix_folds(
        typename Case::op{}, [k](std::int64_t i) { return Case::leaf(k, static_cast<int>(i)); },
        every_size_to(most)));
  }
  return trees;
}

/// The fold that lane or thread t holds by the table, or -1 where it is unspecified.
inline int fold_held_by(int t, int folds) {
  int period = 1;
  while (period < folds) period *= 2;
  return t % period < folds ? t % period : -1;
}

}  // namespace tilefold::test
