// SPDX-License-Identifier: Apache-2.0
//
// Forests over items that are their own index: the value of a tree of them spells where it began,
// where it ended and how it was folded. What the tests of forests on the GPU share. Host code.
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "device_order.cuh"
#include "segment_shapes.hpp"

namespace tilefold::test {

inline const lifted_hash initial{leaf_hash(std::int64_t{1} << 40)};

inline lifted_hash tree_of(std::int64_t begin, std::int64_t end) {
  if (begin >= end) return initial;
  running_fold<lifted_node_hash, lifted_hash> fold(lifted_node_hash{});
  for (std::int64_t i = begin; i < end; ++i) fold.push(lifted_hash(leaf_hash(i)));
  return lifted_node_hash{}(initial, fold.value());
}

inline std::vector<lifted_hash> trees_of(const segments& all) {
  std::vector<lifted_hash> expected;
  for (const auto& [begin, end] : all) expected.push_back(tree_of(begin, end));
  return expected;
}

inline ::testing::AssertionResult same_trees(const std::vector<lifted_hash>& got,
                                             const std::vector<lifted_hash>& expected,
                                             const segments& all) {
  std::size_t wrong = 0;
  ::testing::AssertionResult result = ::testing::AssertionFailure();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (got[i] == expected[i]) continue;
    if (++wrong <= 5) {
      result << "segment " << i << " [" << all[i].first << ", " << all[i].second << ") ";
    }
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return result << wrong << " of " << all.size() << " segments are wrong";
}

/// Items that are their own index, `shift` items past an aligned address.
class index_items {
 public:
  explicit index_items(std::int64_t n) {
    std::vector<std::uint32_t> items;
    for (std::int64_t i = 0; i < n; ++i) items.push_back(static_cast<std::uint32_t>(i));
    for (int shift = 0; shift < 4; ++shift) {
      arrays_.emplace_back(n + 4).assign(items.data(), n, shift);
    }
  }
  const std::uint32_t* at(int shift) const {
    return arrays_[static_cast<std::size_t>(shift)].data() + shift;
  }

 private:
  std::vector<gpu_array<std::uint32_t>> arrays_;
};

}  // namespace tilefold::test
