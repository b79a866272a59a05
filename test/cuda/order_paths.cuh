// SPDX-License-Identifier: Apache-2.0
//
// The kinds of policy for paths that need not be compiled for all of them, and their items.
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "support/device_order.cuh"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

inline const std::vector<std::int64_t>& sizes() {
  static const std::vector<std::int64_t> all = landmark_sizes(16, 60, seed());
  return all;
}

inline std::vector<tree_hash> index_folds() {
  return prefix_folds(node_hash{}, leaf_hash, sizes());
}

inline gpu_array<std::uint32_t> index_array(std::int64_t n) {
  std::vector<std::uint32_t> items;
  for (std::int64_t i = 0; i < n; ++i) items.push_back(static_cast<std::uint32_t>(i));
  return gpu_array<std::uint32_t>(items);
}

// The kinds of policy once more, for paths that need not be compiled for all of them.
using some_policies = ::testing::Types<policy_case<32, 4>, policy_case<128, 16>,
                                       policy_case<256, 1>, policy_case<512, 32>>;

template <class Policy>
class CudaOrderOfPaths : public ::testing::Test {
 protected:
  cuda_executor base_;
};

}  // namespace
}  // namespace tilefold::test
