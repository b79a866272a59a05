// SPDX-License-Identifier: Apache-2.0
//
// The fold order on a GPU along its other paths: accumulators of 4 bytes, operators that commute,
// iterators that are no pointers, and the shapes that the executor chooses by itself.
// (order_transforms_test.cu has transforms.)
#include <cstdint>
#include <vector>

#include <thrust/iterator/counting_iterator.h>

#include <gtest/gtest.h>

#include "order_paths.cuh"
#include "support/device_order.cuh"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

TYPED_TEST_SUITE(CudaOrderOfPaths, some_policies);

TYPED_TEST(CudaOrderOfPaths, OperatorsThatCommute) {
  const auto exec = with_policy<TypeParam::value>(this->base_);
  const auto items = index_array(sizes().back());
  const auto expected = prefix_folds(
      swappable_node_hash{}, [](std::int64_t i) { return lifted_hash(leaf_hash(i)); }, sizes());
  EXPECT_TRUE(
      same_folds(device_folds(this->base_, exec, items.data(), sizes(), swappable_node_hash{}),
                 expected, sizes()));
}

TYPED_TEST(CudaOrderOfPaths, AccumulatorsOfFourBytes) {
  const auto exec = with_policy<TypeParam::value>(this->base_);
  const auto items = index_array(sizes().back());
  const auto expected = prefix_folds(
      short_node_hash{}, [](std::int64_t i) { return static_cast<std::uint32_t>(i); }, sizes());
  EXPECT_TRUE(same_folds(device_folds(this->base_, exec, items.data(), sizes(), short_node_hash{}),
                         expected, sizes()));
}

TYPED_TEST(CudaOrderOfPaths, IteratorsThatAreNoPointers) {
  const auto exec = with_policy<TypeParam::value>(this->base_);
  const auto first = thrust::make_counting_iterator(std::uint32_t{0});
  EXPECT_TRUE(same_folds(device_folds(this->base_, exec, first, sizes(), lifted_node_hash{}),
                         index_folds(), sizes()));
}

TEST(CudaOrder, IsTheSameUnderTheDefaultPolicies) {
  // 2^25 items of four bytes are several of any tile for every block that a GPU holds.
  auto all = landmark_sizes(22, 40, seed());
  for (const std::int64_t n : {(1 << 25) - 1, 1 << 25, (1 << 25) + 54321}) all.push_back(n);
  const auto items = index_array(all.back());
  cuda_executor exec;
  EXPECT_TRUE(same_folds(device_folds(exec, exec, items.data(), all, lifted_node_hash{}),
                         prefix_folds(node_hash{}, leaf_hash, all), all));
}

TEST(CudaOrder, HoldsOverManyLevelsOfPartials) {
  // Tiles of 32 items and groups of 128 partials: four levels from 2^19 items on.
  const std::vector<std::int64_t> all{(1 << 19) - 1, 1 << 19, (1 << 19) + 1, (1 << 24) - 31,
                                      (1 << 24) + 33};
  const auto first = thrust::make_counting_iterator(std::uint32_t{0});
  cuda_executor base;
  const auto exec = with_policy<tile_policy{32, 1}>(base);
  EXPECT_TRUE(same_folds(device_folds(base, exec, first, all, lifted_node_hash{}),
                         prefix_folds(node_hash{}, leaf_hash, all), all));
}

}  // namespace
}  // namespace tilefold::test
