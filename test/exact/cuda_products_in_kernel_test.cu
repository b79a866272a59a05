// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of squares and norms in warp_fold and block_fold, on data on which they go wrong,
// against the host.
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "many_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bytes_of;

constexpr int block_items = 96;
constexpr int folds = 40;

template <class T>
struct products {
  T squares;
  T norm;
};

/// Block b folds its 96 items; warp 0 of it the first 32 of them.
template <class T>
__global__ void fold_products(const T* items, products<T>* of_blocks, products<T>* of_warps) {
  using squares = r::exact_sum_of_squares<>;
  using norm = r::exact_l2<>;
  __shared__ block_storage<block_items, accumulated_t<T, squares>> for_squares;
  __shared__ block_storage<block_items, accumulated_t<T, norm>> for_norm;
  const T mine = items[static_cast<int>(blockIdx.x) * block_items + static_cast<int>(threadIdx.x)];
  const T sum = block_fold(for_squares, mine, squares{});
  const T root = block_fold(for_norm, mine, norm{});
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = {sum, root};
  if (threadIdx.x >= 32) return;
  const T of_warp = warp_fold(mine, squares{});
  const T root_of_warp = warp_fold(mine, norm{});
  if (threadIdx.x == 7) of_warps[blockIdx.x] = {of_warp, root_of_warp};
}

template <class T>
class CudaExactProductsInKernels : public testing::Test {};
using item_types = testing::Types<half, bfloat16, float, double>;
TYPED_TEST_SUITE(CudaExactProductsInKernels, item_types);

template <class T>
void expect_products(const products<T>& got, const T* first, int count) {
  const host_executor host(1);
  EXPECT_EQ(bytes_of(got.squares),
            bytes_of(reduce(host, first, first + count, r::exact_sum_of_squares{})));
  EXPECT_EQ(bytes_of(got.norm), bytes_of(reduce(host, first, first + count, r::exact_l2{})));
}

TYPED_TEST(CudaExactProductsInKernels, OfBlocksAndWarps) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  for (int kind = 0; kind <= test::num_exact_kinds; ++kind) {
    const auto items =
        test::any_items<T>(kind, static_cast<std::size_t>(block_items * folds), random);
    const test::gpu_array<T> x(items);
    const test::gpu_array<products<T>> blocks(folds), warps(folds);
    fold_products<<<folds, block_items>>>(x.data(), blocks.data(), warps.data());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const auto of_blocks = blocks.to_host();
    const auto of_warps = warps.to_host();
    for (int f = 0; f < folds; ++f) {
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", fold " << f);
      const T* const first = items.data() + block_items * f;
      expect_products(of_blocks[static_cast<std::size_t>(f)], first, block_items);
      expect_products(of_warps[static_cast<std::size_t>(f)], first, 32);
    }
  }
}

}  // namespace
}  // namespace tilefold
