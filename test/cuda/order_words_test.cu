// SPDX-License-Identifier: Apache-2.0
//
// The fold order on a GPU, under every kind of policy: hashes of whole expressions, lifted from
// aligned 4-byte items, equal the oracle's.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "support/device_order.cuh"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

struct hashed_prefixes {
  std::vector<std::int64_t> sizes;
  std::vector<tree_hash> folds;
};

hashed_prefixes prefixes(std::vector<std::int64_t> sizes) {
  auto folds = prefix_folds(node_hash{}, leaf_hash, sizes);
  return {std::move(sizes), std::move(folds)};
}

// The items 0, 1, 2..., once for all policies.
const gpu_array<std::uint32_t>& indices() {
  static const gpu_array<std::uint32_t> array = [] {
    std::vector<std::uint32_t> items((1 << 22) + 2);
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::uint32_t>(i);
    return gpu_array<std::uint32_t>(items);
  }();
  return array;
}

template <class Policy>
class CudaOrderOfWords : public ::testing::Test {
 protected:
  void check(const hashed_prefixes& expected) {
    cuda_executor base;
    const auto exec = with_policy<Policy::value>(base);
    EXPECT_TRUE(
        same_folds(device_folds(base, exec, indices().data(), expected.sizes, lifted_node_hash{}),
                   expected.folds, expected.sizes));
  }
};
TYPED_TEST_SUITE(CudaOrderOfWords, order_policies);

TYPED_TEST(CudaOrderOfWords, IsTheOraclesForEveryLengthTo5000) {
  static const hashed_prefixes expected = prefixes(every_size_to(5000));
  this->check(expected);
}

TYPED_TEST(CudaOrderOfWords, IsTheOraclesAroundPowersOfTwoAndAtRandomLengths) {
  static const hashed_prefixes expected = prefixes(landmark_sizes(22, 100, seed()));
  this->check(expected);
}

}  // namespace
}  // namespace tilefold::test
