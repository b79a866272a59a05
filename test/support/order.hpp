// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the fold order share: an oracle that serves every prefix of one sequence, items
// that become hashes when a fold lifts them, and the sizes to fold. Uses nothing of the library but
// TILEFOLD_HD and op_traits; host and device code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/config.hpp>
#include <tilefold/op.hpp>

#include "oracle.hpp"

namespace tilefold::test {

/// The neighbour tree over all items pushed so far, without folding them again for every length.
/// The order tests hold it against neighbour_tree().
template <class Op, class T>
class running_fold {
 public:
  explicit running_fold(Op op) : op_(op) {}

  void push(T value) {
    // Finished subtrees stand left to right, largest first; two of one size make one of the next.
    std::int64_t items = 1;
    while (!subtrees_.empty() && subtrees_.back().items == items) {
      value = op_(subtrees_.back().value, value);
      items *= 2;
      subtrees_.pop_back();
    }
    subtrees_.push_back({items, std::move(value)});
  }

  T value() const {
    T value = subtrees_.back().value;
    for (std::size_t i = subtrees_.size() - 1; i-- > 0;) value = op_(subtrees_[i].value, value);
    return value;
  }

 private:
  struct subtree {
    std::int64_t items;
    T value;
  };

  Op op_;
  std::vector<subtree> subtrees_;
};

/// expected[k] is the fold of the first sizes[k] of item(0), item(1)...; sizes ascend from >= 1.
template <class Op, class Item>
auto prefix_folds(Op op, Item item, const std::vector<std::int64_t>& sizes) {
  using T = std::remove_cvref_t<decltype(item(std::int64_t{0}))>;
  running_fold<Op, T> fold(op);
  std::vector<T> expected;
  std::int64_t n = 0;
  for (const std::int64_t size : sizes) {
    while (n < size) fold.push(item(n++));
    expected.push_back(fold.value());
  }
  return expected;
}

/// A hash that an item turns into when it is lifted, so that narrow items can spell out a tree.
struct lifted_hash : tree_hash {
  lifted_hash() = default;
  TILEFOLD_HD lifted_hash(const tree_hash& hash) : tree_hash(hash) {}
  TILEFOLD_HD lifted_hash(std::uint32_t item) : tree_hash(leaf_hash(item)) {}
};

struct lifted_node_hash {
  TILEFOLD_HD lifted_hash operator()(const lifted_hash& a, const lifted_hash& b) const {
    return node_hash{}(a, b);
  }
};

/// As lifted_node_hash, but node(a, b) == node(b, a): for paths that only commutative operators
/// take. Still not associative, so everything but the swap of two operands shows.
struct swappable_node_hash {
  TILEFOLD_HD lifted_hash operator()(const lifted_hash& a, const lifted_hash& b) const {
    const tree_hash sum{a.low + b.low, a.high ^ b.high};
    const tree_hash other{a.low ^ b.low, a.high + b.high};
    return node_hash{}(sum, other);
  }
};

/// A node hash of 32 bits, for accumulators that one register holds.
struct short_node_hash {
  TILEFOLD_HD std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return static_cast<std::uint32_t>(
        mixed_bits((static_cast<std::uint64_t>(a) << 32 | b) + 0x9e3779b97f4a7c15u));
  }
};

/// Byte i of a sequence in which no two aligned blocks are alike.
inline std::uint8_t order_byte(std::int64_t i) {
  return static_cast<std::uint8_t>(mixed_bits(static_cast<std::uint64_t>(i) + 12345));
}

/// 1, 2, ..., max.
inline std::vector<std::int64_t> every_size_to(std::int64_t max) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = 1; n <= max; ++n) sizes.push_back(n);
  return sizes;
}

/// Sizes around every power of two from 2 to 2^max_level, and `random` more below 2^max_level.
inline std::vector<std::int64_t> landmark_sizes(int max_level, int random, std::uint64_t seed) {
  std::vector<std::int64_t> sizes{1};
  for (int level = 1; level <= max_level; ++level) {
    const std::int64_t power = std::int64_t{1} << level;
    for (const std::int64_t near : {-2, -1, 0, 1, 2}) sizes.push_back(power + near);
    sizes.push_back(power + power / 2);
    sizes.push_back(power + power / 2 + 1);
  }
  shape_stream bits(seed);
  for (int i = 0; i < random; ++i) {
    // Every magnitude equally often.
    const int level = 1 + static_cast<int>(bits() % static_cast<std::uint64_t>(max_level));
    sizes.push_back(1 + static_cast<std::int64_t>(bits() >> (64 - level)));
  }
  const std::int64_t largest = (std::int64_t{1} << max_level) + 2;
  std::erase_if(sizes, [=](std::int64_t n) { return n < 1 || n > largest; });
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace tilefold::test

template <>
struct tilefold::op_traits<tilefold::test::swappable_node_hash, tilefold::test::lifted_hash> {
  static constexpr bool commutative = true;
  static constexpr bool order_free = false;
  static constexpr bool separately_rounded = true;
};
