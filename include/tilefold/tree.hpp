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

/// The number of ones in x.
TILEFOLD_HD constexpr int count_ones(std::uint64_t x) {
  // In pairs of bits, in fours, in bytes; the product adds the bytes up.
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<int>(x * 0x0101010101010101u >> 56);
}

/// The maximal aligned blocks of items [begin, end) of a sequence, 0 <= begin <= end, in their
/// order. None of them is part of a larger aligned block that lies in [begin, end):
///
///     items     3 4 5 6 7 8 9 10 11 12 13          begin = 3, end = 14
///     blocks    3|4 5 6 7|8 9 10 11|12 13          they grow up to `top`, then shrink
///     top                 8                        the item in [begin, end] with the most zeros
///
/// So their sizes are the ones of top - begin, the least first, and those of end - top, the
/// greatest first: at most 2 log2(end - begin) + 1 blocks.
struct aligned_blocks {
  /// The most blocks that a piece of any sequence has.
  static constexpr int most = 126;

  std::int64_t begin;
  std::int64_t end;

  TILEFOLD_HD constexpr int count() const {
    return num_growing() + tree::count_ones(static_cast<std::uint64_t>(end - top()));
  }

  /// Where block i begins, 0 <= i <= count(); `end` for the last.
  TILEFOLD_HD constexpr std::int64_t first(int i) const {
    const std::int64_t middle = top();
    const int growing = num_growing();
    if (i <= growing) return middle - without_ones(middle - begin, i);
    const int shrinking = tree::count_ones(static_cast<std::uint64_t>(end - middle));
    const std::int64_t sizes = end - middle;
    return middle + without_ones(sizes, shrinking - (i - growing));
  }

  TILEFOLD_HD constexpr std::int64_t size(int i) const { return first(i + 1) - first(i); }

  /// The size of the block that begins at `at`, where one does: the largest that is aligned there
  /// and does not pass the end. (For walks over all blocks; size(i) takes i steps.)
  TILEFOLD_HD constexpr std::int64_t size_at(std::int64_t at) const {
    const std::int64_t rest = std::int64_t{1} << floor_log2(end - at);
    const std::int64_t aligned = at & -at;
    return aligned != 0 && aligned < rest ? aligned : rest;
  }

  /// The number of the block that begins at `item`.
  TILEFOLD_HD constexpr int number_of(std::int64_t item) const {
    const std::int64_t middle = top();
    // Sizes of this block and of those behind it, up to where they are the greatest.
    if (item < middle)
      return num_growing() - tree::count_ones(static_cast<std::uint64_t>(middle - item));
    return count() - tree::count_ones(static_cast<std::uint64_t>(end - item));
  }

 private:
  TILEFOLD_HD constexpr std::int64_t top() const {
    if (begin == 0 || begin == end) return begin;
    // The bits of `end` down to the first in which begin - 1 is another.
    const auto last = static_cast<std::uint64_t>(end);
    std::uint64_t other = last ^ static_cast<std::uint64_t>(begin - 1);
    for (int step = 1; step < 64; step *= 2) other |= other >> step;
    return static_cast<std::int64_t>(last & ~(other >> 1));
  }
  TILEFOLD_HD constexpr int num_growing() const {
    return tree::count_ones(static_cast<std::uint64_t>(top() - begin));
  }
  /// x without its `ones` lowest ones.
  TILEFOLD_HD static constexpr std::int64_t without_ones(std::int64_t x, int ones) {
    for (; ones > 0; --ones) x &= x - 1;
    return x;
  }
};

}  // namespace tilefold::tree
