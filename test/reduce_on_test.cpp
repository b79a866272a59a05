// SPDX-License-Identifier: Apache-2.0
//
// reduce_on.hpp alone, on an executor that the calls name.
#include <tilefold/host.hpp>
#include <tilefold/reduce_on.hpp>

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace {

TEST(ReduceOn, FoldsOnTheExecutorThatIsNamed) {
  const std::vector<std::int32_t> items{3, 1, 4, 1, 5};
  const tilefold::host_executor exec;
  EXPECT_EQ(tilefold::reduce(exec, items), 14);
  EXPECT_EQ(tilefold::reduce(exec, items.begin(), items.end(), tilefold::maximum{}), 5);
  EXPECT_EQ(tilefold::reduce<std::int64_t>(exec, items, 100), 114);

  std::int32_t out = 0;
  tilefold::reduce_into(exec, items, &out, tilefold::multiplies{});
  EXPECT_EQ(out, 60);
  tilefold::reduce_into(exec, items.begin(), items.begin(), &out,
                        tilefold::if_empty(tilefold::minimum{}, 7));
  EXPECT_EQ(out, 7);
}

}  // namespace
