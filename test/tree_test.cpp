// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the neighbour tree against the oracle's shape.
#include <tilefold/tree.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/oracle.hpp"

namespace tilefold::tree {
namespace {

TEST(Tree, KnowsPowersOfTwo) {
  static_assert(is_power_of_two(1) && is_power_of_two(2) && is_power_of_two(std::int64_t{1} << 62));
  static_assert(!is_power_of_two(0) && !is_power_of_two(-1) && !is_power_of_two(-4));
  static_assert(!is_power_of_two(3) && !is_power_of_two(12) && !is_power_of_two((1 << 20) + 1));
}

TEST(Tree, FloorLog2IsTheHighestBit) {
  for (int level = 0; level < 62; ++level) {
    const std::int64_t power = std::int64_t{1} << level;
    EXPECT_EQ(floor_log2(power), level);
    EXPECT_EQ(floor_log2(2 * power - 1), level);
  }
}

TEST(Tree, BlocksAreCountedBeyond32Bits) {
  EXPECT_EQ(num_blocks(0, 256), 0);
  EXPECT_EQ(num_blocks(1, 256), 1);
  EXPECT_EQ(num_blocks(256, 256), 1);
  EXPECT_EQ(num_blocks(257, 256), 2);
  EXPECT_EQ(num_blocks((std::int64_t{1} << 40) + 1, 4096), (std::int64_t{1} << 28) + 1);
}

TEST(Tree, BlocksAreCountedUpTo63Bits) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  static_assert(num_blocks(most, 1) == most);
  static_assert(num_blocks(most, 2) == std::int64_t{1} << 62);
  static_assert(num_blocks(most, most) == 1);
  static_assert(num_blocks(most - 1, most) == 1);
  static_assert(num_blocks(1, most) == 1);
  static_assert(num_blocks(0, most) == 0);
  for (int level = 0; level < 63; ++level) {
    const std::int64_t block = std::int64_t{1} << level;
    EXPECT_EQ(num_blocks(most, block), most / block + (most % block != 0)) << level;
    EXPECT_EQ(num_blocks(most - block, block), (most - block) / block + (most % block != 0))
        << level;
  }
}

TEST(Tree, RightHalvesStayBelow63Bits) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  static_assert(right_half(most - 1, 1) == most);
  static_assert(right_half(most - 1, 63) == std::int64_t{1} << 62);
  static_assert(left_size(most) == std::int64_t{1} << 62);
  static_assert(ceil_log2(most) == 63);
}

// Spells the node of `level` that starts at `first` by the header's rules alone.
std::string spelled(std::int64_t first, int level, std::int64_t n) {
  if (level == 0) return std::to_string(first);
  const std::string left = spelled(first, level - 1, n);
  const std::int64_t right = right_half(first, level);
  return right < n ? "(" + left + "," + spelled(right, level - 1, n) + ")" : left;
}

TEST(Tree, RightHalvesSpellTheOraclesTree) {
  std::vector<std::string> x;
  for (std::int64_t n = 1; n <= 300; ++n) {
    x.push_back(std::to_string(n - 1));
    int root_level = 0;
    while ((std::int64_t{1} << root_level) < n) ++root_level;
    ASSERT_EQ(spelled(0, root_level, n), test::neighbour_tree(test::expression{}, x))
        << "n = " << n;
  }
}

TEST(Tree, RightHalfIsTheSameForEveryItemOfTheNode) {
  for (int level = 1; level < 8; ++level) {
    const std::int64_t size = std::int64_t{1} << level;
    for (std::int64_t item = 0; item < 1000; ++item) {
      EXPECT_EQ(right_half(item, level), item / size * size + size / 2);
      EXPECT_EQ(right_half(static_cast<int>(item), level), item / size * size + size / 2);
    }
  }
}

TEST(Tree, RootsLeftHalfIsTheLargestPowerBelow) {
  EXPECT_EQ(left_size(2), 1);
  EXPECT_EQ(left_size(3), 2);
  EXPECT_EQ(left_size(4), 2);
  EXPECT_EQ(left_size(5), 4);
  EXPECT_EQ(left_size((std::int64_t{1} << 33) + 1), std::int64_t{1} << 33);
  EXPECT_EQ(left_size(std::int64_t{1} << 33), std::int64_t{1} << 32);
}

}  // namespace
}  // namespace tilefold::tree
