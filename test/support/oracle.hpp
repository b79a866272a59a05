// SPDX-License-Identifier: Apache-2.0
//
// The independent oracle of the fold order: the neighbour tree evaluated level by level, as its
// definition reads, and two operators whose results spell out the tree that made them. Uses
// nothing of the library but TILEFOLD_HD, so that the hash can also be folded on a GPU.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <tilefold/config.hpp>

#include "random.hpp"

namespace tilefold::test {

/// The neighbour tree over x, which must not be empty.
template <class Op, class T>
T neighbour_tree(Op op, std::vector<T> x) {
  while (x.size() > 1) {
    std::vector<T> pairs;
    for (std::size_t i = 0; i + 1 < x.size(); i += 2) pairs.push_back(op(T(x[i]), T(x[i + 1])));
    if (x.size() % 2 != 0) pairs.push_back(x.back());
    x = std::move(pairs);
  }
  return x.front();
}

/// The same tree of leaf(first), ..., leaf(first + n - 1), n >= 1, the left operand of a node being
/// the largest power of two below n. Needs no array, whose functions would be compiled for every T.
template <class T, class Op, class Leaf>
T tree_of_leaves(const Op& op, const Leaf& leaf, std::size_t first, std::size_t n) {
  if (n == 1) return leaf(first);
  const std::size_t left = std::bit_floor(n - 1);
  return op(tree_of_leaves<T>(op, leaf, first, left),
            tree_of_leaves<T>(op, leaf, first + left, n - left));
}

/// Writes the expression down: "(a,b)". Two results are equal exactly if the trees are.
struct expression {
  std::string operator()(const std::string& a, const std::string& b) const {
    return "(" + a + "," + b + ")";
  }
};

/// An expression as 128 bits: trivially copyable, and different trees collide with a chance of
/// about 2^-128. Neither associative nor commutative, on purpose.
struct tree_hash {
  std::uint64_t low, high;

  friend bool operator==(const tree_hash&, const tree_hash&) = default;
  friend std::ostream& operator<<(std::ostream& out, const tree_hash& h) {
    return out << h.high << ":" << h.low;
  }
};

/// The hash of the leaf with this index.
TILEFOLD_HD inline tree_hash leaf_hash(std::int64_t index) {
  const auto i = static_cast<std::uint64_t>(index);
  return {mixed_bits(i + 0x9e3779b97f4a7c15u), mixed_bits(~i)};
}

/// The hash of the node with these operands.
struct node_hash {
  TILEFOLD_HD tree_hash operator()(const tree_hash& a, const tree_hash& b) const {
    const std::uint64_t x = mixed_bits(a.low + 3 * a.high + 0x9e3779b97f4a7c15u);
    const std::uint64_t y = mixed_bits(b.low ^ (5 * b.high));
    return {mixed_bits(x + 7 * y) + a.high, mixed_bits((x << 1) ^ (y + b.low))};
  }
};

/// The hashes of leaves 0, 1, ..., n - 1.
inline std::vector<tree_hash> leaf_hashes(std::size_t n) {
  std::vector<tree_hash> leaves(n);
  for (std::size_t i = 0; i < n; ++i) leaves[i] = leaf_hash(static_cast<std::int64_t>(i));
  return leaves;
}

}  // namespace tilefold::test
