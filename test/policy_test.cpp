// SPDX-License-Identifier: Apache-2.0
//
// Tile policies as values, and executors that carry one.
#include <tilefold/policy.hpp>

#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

namespace tilefold {
namespace {

TEST(Policy, IsAPlainValue) {
  constexpr tile_policy policy{256, 16};
  static_assert(policy.tile() == 4096);
  static_assert(policy == tile_policy{256, 16});
  static_assert(policy != tile_policy{256, 8} && policy != tile_policy{128, 16});
}

TEST(Policy, IsValidIfItsTileIsAnAlignedSubtree) {
  for (const int nt : {32, 64, 128, 256, 512, 1024}) {
    for (const int vt : {1, 2, 4, 8, 16, 32, 64, 128, 256}) {
      EXPECT_TRUE(detail::valid({nt, vt})) << nt << " x " << vt;
    }
  }
  for (const tile_policy wrong : {tile_policy{0, 1},
                                  {16, 1},
                                  {48, 1},
                                  {2048, 1},
                                  {-32, 1},
                                  {32, 0},
                                  {32, 3},
                                  {32, -1},
                                  {32, 512}}) {
    EXPECT_FALSE(detail::valid(wrong)) << wrong.nt << " x " << wrong.vt;
  }
}

TEST(Policy, RidesOnAnExecutor) {
  host_executor exec;
  const auto tuned = with_policy<tile_policy{128, 8}>(exec);
  static_assert(executor<host_executor> && executor<decltype(tuned)>);
  static_assert(!executor<int> && !executor<std::vector<int>>);
  EXPECT_EQ(&tuned.base(), &exec);
}

TEST(Policy, MovesNoBitOnTheHost) {
  host_executor exec;
  std::vector<float> x;
  for (int i = 0; i < 10007; ++i) x.push_back(1.0f / static_cast<float>(1 + i % 97) - 0.05f);
  const float expected = reduce(exec, x);
  EXPECT_EQ(reduce(with_policy<tile_policy{32, 1}>(exec), x), expected);
  EXPECT_EQ(reduce(with_policy<tile_policy{1024, 64}>(exec), x), expected);
}

}  // namespace
}  // namespace tilefold
