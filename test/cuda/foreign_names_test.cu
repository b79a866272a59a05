// SPDX-License-Identifier: Apache-2.0
//
// A user's namespace may use any names, on the GPU as well.
#include <vector>

#include <gtest/gtest.h>
#include <tilefold/tilefold.cuh>

#include "support/device.cuh"
#include "support/greedy_names.hpp"

namespace {

TEST(CudaForeignNames, AreNotCalled) {
  std::vector<greedy::item> items;
  for (int i = 0; i < 30000; ++i) items.push_back({i % 100, 7 - i});
  const tilefold::test::gpu_array<greedy::item> array(items);
  tilefold::cuda_executor executor;
  const greedy::item expected{1485000, -29992};
  EXPECT_EQ(tilefold::reduce(executor, array.begin(), array.end(), greedy::join{}), expected);
}

}  // namespace
