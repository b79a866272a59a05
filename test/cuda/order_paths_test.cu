// SPDX-License-Identifier: Apache-2.0
//
// The fold order on a GPU along its other paths: accumulators of 4 bytes, operators that commute,
// iterators that are no pointers, and the shapes that the executor chooses by itself; transforms of
// one and of two ranges, with initial values.
#include <cstdint>
#include <vector>

#include <thrust/iterator/counting_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/transform_reduce.hpp>

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

struct leaf_of_index {
  TILEFOLD_HD tree_hash operator()(std::uint32_t index) const { return leaf_hash(index); }
};

struct leaf_of_halves {
  TILEFOLD_HD tree_hash operator()(std::uint8_t low, std::uint32_t high) const {
    return leaf_hash(low + 256 * std::int64_t{high});
  }
};

TYPED_TEST(CudaOrderOfPaths, TransformsOfOneRangeAndAnInitialValue) {
  const auto exec = with_policy<TypeParam::value>(this->base_);
  const auto items = index_array(sizes().back());
  const tree_hash init{1, 2};
  const auto expected = index_folds();
  for (std::size_t i = 0; i < sizes().size(); ++i) {
    const tree_hash got = transform_reduce(exec, items.begin(), items.begin() + sizes()[i], init,
                                           node_hash{}, leaf_of_index{});
    ASSERT_EQ(got, node_hash{}(init, expected[i])) << "n = " << sizes()[i];
  }
}

TYPED_TEST(CudaOrderOfPaths, TransformsOfTwoRangesAtDifferentAlignments) {
  const auto exec = with_policy<TypeParam::value>(this->base_);
  const std::int64_t n = sizes().back();
  std::vector<std::uint8_t> low;
  std::vector<std::uint32_t> high;
  for (std::int64_t i = 0; i < n; ++i) {
    low.push_back(static_cast<std::uint8_t>(i % 256));
    high.push_back(static_cast<std::uint32_t>(i / 256));
  }
  const tree_hash init{3, 4};
  const auto expected = index_folds();
  gpu_array<std::uint8_t> lows(n + 16);
  gpu_array<std::uint32_t> highs(n + 4);
  for (const auto& [low_shift, high_shift] : {std::pair{0, 0}, {5, 0}, {0, 3}, {15, 1}}) {
    lows.assign(low.data(), n, low_shift);
    highs.assign(high.data(), n, high_shift);
    const std::uint8_t* first1 = lows.data() + low_shift;
    const std::uint32_t* first2 = highs.data() + high_shift;
    for (std::size_t i = 0; i < sizes().size(); ++i) {
      const tree_hash got = transform_reduce(exec, first1, first1 + sizes()[i], first2, init,
                                             node_hash{}, leaf_of_halves{});
      ASSERT_EQ(got, node_hash{}(init, expected[i]))
          << "n = " << sizes()[i] << ", shifts " << low_shift << " and " << high_shift;
    }
  }
}

TEST(CudaOrder, EmptyRangesGiveTheInitialValue) {
  cuda_executor exec;
  const tree_hash init{5, 6};
  const auto items = index_array(1);
  EXPECT_EQ(
      transform_reduce(exec, items.begin(), items.begin(), init, node_hash{}, leaf_of_index{}),
      init);
}

}  // namespace
}  // namespace tilefold::test
