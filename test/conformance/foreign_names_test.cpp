// SPDX-License-Identifier: Apache-2.0
//
// A user's namespace may use any names.
#include <vector>

#include <gtest/gtest.h>
#include <tilefold/tilefold.hpp>

#include "../support/greedy_names.hpp"

namespace {

TEST(ForeignNames, AreNotCalled) {
  std::vector<greedy::item> items;
  for (int i = 0; i < 1000; ++i) items.push_back({i, 7 - i});
  const greedy::item expected{499500, -992};
  EXPECT_EQ(tilefold::reduce(items, greedy::join{}), expected);
  EXPECT_EQ(tilefold::reduce(items.begin(), items.end(), greedy::item{0, 0}, greedy::join{}),
            expected);
}

}  // namespace
