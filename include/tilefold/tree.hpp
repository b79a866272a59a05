// SPDX-License-Identifier: Apache-2.0
//
// THE ORDER. Every result of the library is the value of one expression tree, the neighbour tree:
// y[i] = op(x[2i], x[2i+1]) level by level, a last odd element moving up unchanged. This file
// has the tree's arithmetic, for both backends: which nodes there are, and which have a right half.
//
// A node of level L covers the 2^L items that start at a multiple of 2^L ("an aligned block"), cut
// off at n. Its value is op(left, right) when its right half holds at least one item, else the
// value of its left half. So any aligned block can be folded by anyone, anywhere, and the partials
// of blocks of equal size are themselves a sequence to be folded by the same rule.
#pragma once

#include <cstdint>

#include <tilefold/config.hpp>

namespace tilefold::tree {

/// True for 1, 2, 4, 8...
TILEFOLD_HD constexpr bool is_power_of_two(std::int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

/// Largest k with 2^k <= x; x > 0.
TILEFOLD_HD constexpr int floor_log2(std::int64_t x) {
  int k = 0;
  while (x >>= 1) ++k;
  return k;
}

/// Smallest k with 2^k >= x; x > 0.
TILEFOLD_HD constexpr int ceil_log2(std::int64_t x) { return x == 1 ? 0 : floor_log2(x - 1) + 1; }

/// Number of aligned blocks of `block` items that n >= 0 items touch.
TILEFOLD_HD constexpr std::int64_t num_blocks(std::int64_t n, std::int64_t block) {
  // Unsigned, for n + block - 1 may pass 2^63 (and never 2^64).
  return static_cast<std::int64_t>(
      (static_cast<std::uint64_t>(n) + static_cast<std::uint64_t>(block) - 1) /
      static_cast<std::uint64_t>(block));
}

/// First item of the right half of the node of `level` (>= 1) that covers `item`. The node has a
/// right operand exactly if this is < n.
template <class Int>
TILEFOLD_HD constexpr Int right_half(Int item, int level) {
  return ((item >> level) << level) + (Int{1} << (level - 1));
}

/// Largest power of two strictly below n (n >= 2): the size of the root's left half.
TILEFOLD_HD constexpr std::int64_t left_size(std::int64_t n) {
  return std::int64_t{1} << floor_log2(n - 1);
}

}  // namespace tilefold::tree
