// SPDX-License-Identifier: Apache-2.0
//
// block_fold and block_fold_each: the tree, in every thread that is to hold it, for blocks of every
// kind of size, every kind of count, several values a thread, several folds at once.
// (block_fold_bits_test.cu has the bits of reduce(), detail/cuda/in_kernel/kernel_fold_test.cu what
// block_fold and warp_fold share.)
#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/device.cuh"
#include "support/kernel_folds.cuh"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

__device__ int linear_thread() {
  return static_cast<int>((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
}

// ---- the tree

/// Block b folds the first counts[b] items, all of them by the form without a count; out[b][t] is
/// what thread t holds then.
template <class Case, int Nt, int Vt, int Folds>
__global__ void __launch_bounds__(Nt) fold_blocks(const int* counts, typename Case::value* out) {
  using value = typename Case::value;
  using op = typename Case::op;
  __shared__ block_storage<Nt, value, Folds> storage;
  const int thread = linear_thread();
  const int count = counts[blockIdx.x];
  value values[Folds][Vt];
  for (int k = 0; k < Folds; ++k) {
    for (int j = 0; j < Vt; ++j) values[k][j] = Case::leaf(k, thread * Vt + j);
  }
  value result;
  if constexpr (Folds > 1) {
    result = count == Nt * Vt ? block_fold_each(storage, values, op{})
                              : block_fold_each(storage, values, count, op{});
  } else if constexpr (Vt > 1) {
    result = count == Nt * Vt ? block_fold(storage, values[0], op{})
                              : block_fold(storage, values[0], count, op{});
  } else {
    result = count == Nt ? block_fold(storage, values[0][0], op{})
                         : block_fold(storage, values[0][0], count, op{});
  }
  out[static_cast<int>(blockIdx.x) * Nt + thread] = result;
}

/// Every count of a small tile; around the edges of warps and of powers of two, and some more, of a
/// large one.
std::vector<int> counts_to(int items, int warp_items) {
  std::vector<int> counts;
  shape_stream bits(seed());
  for (int n = 1; n <= items; ++n) {
    const int off = (n + 1) % warp_items;
    const bool edge = off <= 2 || ((n - 1) & (n - 2)) == 0 || ((n + 1) & n) == 0;
    if (items <= 512 || edge || n <= 40 || n + 3 > items || bits() % 64 == 0) counts.push_back(n);
  }
  return counts;
}

template <class Case, int Nt, int Vt, int Folds>
void expect_trees(dim3 block = dim3(Nt)) {
  SCOPED_TRACE(::testing::Message() << Nt << " threads (" << block.x << " x " << block.y << " x "
                                    << block.z << "), " << Vt << " values, " << Folds << " folds");
  const std::vector<int> counts = counts_to(Nt * Vt, 32 * Vt);
  const auto trees = expected_trees<Case>(Folds, Nt * Vt);
  const gpu_array<int> device_counts(counts);
  gpu_array<typename Case::value> out(static_cast<std::int64_t>(counts.size()) * Nt);
  must(cudaMemset(out.data(), 0xee, static_cast<std::size_t>(out.size()) * sizeof(*out.data())));
  fold_blocks<Case, Nt, Vt, Folds>
      <<<static_cast<unsigned>(counts.size()), block>>>(device_counts.data(), out.data());
  must(cudaGetLastError());
  const auto got = out.to_host();
  for (std::size_t b = 0; b < counts.size(); ++b) {
    for (int t = 0; t < Nt && t < 32; ++t) {
      const int k = fold_held_by(t, Folds);
      if (k < 0) continue;
      const auto& expected =
          trees[static_cast<std::size_t>(k)][static_cast<std::size_t>(counts[b] - 1)];
      ASSERT_EQ(got[b * Nt + static_cast<std::size_t>(t)], expected)
          << counts[b] << " items, fold " << k << ", thread " << t;
    }
  }
}

template <class Case, int... Nts>
void expect_trees_of_blocks(std::integer_sequence<int, Nts...>) {
  (expect_trees<Case, Nts, 1, 1>(), ...);
}

template <class Case, int Nt, int... FoldsMinusOne>
void expect_trees_of_folds(std::integer_sequence<int, FoldsMinusOne...>) {
  (expect_trees<Case, Nt, 1, FoldsMinusOne + 1>(), ...);
}

TEST(BlockFold, IsTheTreeInBlocksOfEverySize) {
  // One warp, not all of it, whole ones and a part, as many as lanes.
  using sizes =
      std::integer_sequence<int, 1, 2, 7, 16, 31, 32, 33, 64, 65, 96, 250, 512, 1023, 1024>;
  expect_trees_of_blocks<short_hash_case>(sizes{});
}

TEST(BlockFold, IsTheTreeInAccumulatorsOfTwoRegisters) {
  using sizes = std::integer_sequence<int, 20, 33, 64, 250, 1000>;
  expect_trees_of_blocks<wide_hash_case>(sizes{});
  expect_trees<wide_hash_case, 200, 4, 1>();
}

TEST(BlockFold, IsTheTreeInLargeAccumulators) {
  using sizes = std::integer_sequence<int, 1, 24, 32, 50, 257, 1024>;
  expect_trees_of_blocks<long_hash_case>(sizes{});
}

TEST(BlockFold, IsTheTreeUnderACommutativeOperator) {
  using sizes = std::integer_sequence<int, 5, 70, 128>;
  expect_trees_of_blocks<swappable_hash_case>(sizes{});
}

TEST(BlockFold, TakesSeveralValuesAThread) {
  expect_trees<short_hash_case, 1, 8, 1>();
  expect_trees<short_hash_case, 20, 2, 1>();
  expect_trees<short_hash_case, 32, 4, 1>();
  expect_trees<short_hash_case, 100, 4, 1>();
  expect_trees<short_hash_case, 128, 2, 1>();
  expect_trees<short_hash_case, 256, 8, 1>();
  expect_trees<long_hash_case, 384, 4, 1>();
}

TEST(BlockFoldEach, IsEveryTreeOfOneToEightFolds) {
  expect_trees_of_folds<short_hash_case, 128>(std::make_integer_sequence<int, 8>{});
}

TEST(BlockFoldEach, IsEveryTreeWhereTheLastWarpLacksThreads) {
  expect_trees_of_folds<short_hash_case, 75>(std::make_integer_sequence<int, 8>{});
  expect_trees<short_hash_case, 3, 1, 3>();
  expect_trees<short_hash_case, 20, 1, 5>();
  expect_trees<short_hash_case, 33, 1, 8>();
}

TEST(BlockFoldEach, IsEveryTreeOfManyFolds) {
  expect_trees<short_hash_case, 32, 1, 32>();
  expect_trees<short_hash_case, 256, 1, 13>();
  expect_trees<short_hash_case, 256, 1, 32>();
}

TEST(BlockFoldEach, IsEveryTreeInLargeAccumulatorsAndSmallBlocks) {
  expect_trees<long_hash_case, 16, 1, 3>();
  expect_trees<long_hash_case, 320, 1, 4>();
  expect_trees<swappable_hash_case, 64, 1, 6>();
}

TEST(BlockFoldEach, TakesSeveralValuesAThread) {
  expect_trees<short_hash_case, 64, 2, 3>();
  expect_trees<short_hash_case, 96, 8, 2>();
  expect_trees<short_hash_case, 90, 4, 4>();
}

TEST(BlockFold, CountsThreadsInTwoAndThreeDimensions) {
  expect_trees<short_hash_case, 64, 1, 1>(dim3(8, 4, 2));
  expect_trees<short_hash_case, 100, 1, 1>(dim3(10, 10));
  expect_trees<short_hash_case, 125, 1, 4>(dim3(5, 5, 5));
  expect_trees<short_hash_case, 1024, 1, 1>(dim3(1, 32, 32));
}

TEST(SanitizeBlockFold, OfEveryKind) {
  expect_trees<short_hash_case, 64, 1, 1>();
  expect_trees<wide_hash_case, 100, 1, 1>();
  expect_trees<long_hash_case, 70, 1, 1>();
  expect_trees<short_hash_case, 75, 1, 3>();
}

}  // namespace
}  // namespace tilefold::test
