// SPDX-License-Identifier: Apache-2.0
//
// The fold order on a GPU of transforms of one and of two ranges, with initial values.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/transform_reduce.hpp>

#include "order_paths.cuh"

namespace tilefold::test {
namespace {

TYPED_TEST_SUITE(CudaOrderOfPaths, some_policies);

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
