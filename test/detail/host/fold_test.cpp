// SPDX-License-Identifier: Apache-2.0
//
// The scalar fold alone: the same tree whatever it knows about its input, for accumulators of every
// size and kind that it treats differently.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/detail/host/fold.hpp>

#include "support/oracle.hpp"
#include "support/order.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

using detail::op_reducer;
using detail::source;

// Hashes with `Padding` words more, to reach every length of run.
template <int Padding>
struct padded {
  tree_hash hash;
  std::uint64_t padding[Padding] = {};
  friend bool operator==(const padded& a, const padded& b) { return a.hash == b.hash; }
};
struct padded_node {
  template <int Padding>
  padded<Padding> operator()(const padded<Padding>& a, const padded<Padding>& b) const {
    return {node_hash()(a.hash, b.hash)};
  }
};

template <class T, class Op>
void folds_every_length(Op op, T (*leaf)(std::int64_t), std::int64_t max) {
  const auto sizes = every_size_to(max);
  const auto expected = prefix_folds(op, leaf, sizes);
  std::vector<T> items;
  for (std::int64_t i = 0; i < max; ++i) items.push_back(leaf(i));
  const op_reducer<T, Op> reducer{op, {}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const source<const T*> elements{{items.data()}};
    ASSERT_TRUE(detail::host::fold(elements, reducer, 0, sizes[i]) == expected[i])
        << "n = " << sizes[i];
  }
}

template <int Padding>
padded<Padding> padded_leaf(std::int64_t i) {
  return {leaf_hash(i)};
}

TEST(HostFold, IsTheTreeForSmallAccumulators) {
  folds_every_length<tree_hash>(node_hash(), leaf_hash, 5000);
}
TEST(HostFold, IsTheTreeForLargerAccumulators) {
  folds_every_length<padded<4>>(padded_node(), padded_leaf<4>, 2000);
}
TEST(HostFold, IsTheTreeForHugeAccumulators) {
  folds_every_length<padded<60>>(padded_node(), padded_leaf<60>, 1000);
}
TEST(HostFold, IsTheTreeForAccumulatorsThatOwnMemory) {
  folds_every_length<std::string>(
      expression(), [](std::int64_t i) { return std::to_string(i); }, 1000);
}

TEST(HostFold, StartsAnywhere) {
  const auto leaves = leaf_hashes(3000);
  const op_reducer<tree_hash, node_hash> reducer{};
  const source<const tree_hash*> elements{{leaves.data()}};
  shape_stream random(seed());
  for (int i = 0; i < 300; ++i) {
    const auto first = static_cast<std::int64_t>(random() % 1000);
    const auto n = static_cast<std::int64_t>(1 + random() % 2000);
    const std::vector<tree_hash> items(leaves.begin() + first, leaves.begin() + first + n);
    ASSERT_EQ(detail::host::fold(elements, reducer, first, n), neighbour_tree(node_hash(), items))
        << "first = " << first << ", n = " << n;
  }
}

TEST(HostFold, LiftsTwoRangesInStep) {
  const std::int64_t n = 777;
  const auto left = leaf_hashes(n);
  std::vector<std::int64_t> right;
  for (std::int64_t i = 0; i < n; ++i) right.push_back(1000 + i);
  const auto lift = [](const tree_hash& a, std::int64_t b) { return node_hash()(a, leaf_hash(b)); };
  std::vector<tree_hash> lifted;
  for (std::int64_t i = 0; i < n; ++i) {
    lifted.push_back(lift(left[static_cast<std::size_t>(i)], 1000 + i));
  }
  const op_reducer<tree_hash, node_hash, decltype(lift)> reducer{{}, lift};
  const source<const tree_hash*, const std::int64_t*> elements{{left.data()}, {right.data()}};
  EXPECT_EQ(detail::host::fold(elements, reducer, 0, n), neighbour_tree(node_hash(), lifted));
}

// Selections are folded one after the other, which their result cannot show; a bound can.
TEST(HostFold, SelectionsSeeEveryItem) {
  for (std::int64_t n = 1; n < 600; ++n) {
    for (const std::int64_t where : {std::int64_t{0}, n / 2, n - 1}) {
      std::vector<float> items(static_cast<std::size_t>(n), 1.0f);
      items[static_cast<std::size_t>(where)] = -2.0f;
      const source<const float*> elements{{items.data()}};
      ASSERT_EQ(detail::host::fold(elements, op_reducer<float, minimum>{}, 0, n), -2.0f) << n;
    }
  }
}

}  // namespace
}  // namespace tilefold::test
