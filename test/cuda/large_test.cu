// SPDX-License-Identifier: Apache-2.0
//
// More items than 32 bits count: nothing wraps, in the number of items, in their indices, in their
// addresses.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <cuda_runtime.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/piece.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>

#include "conformance/conformance.hpp"
#include "support/device.cuh"
#include "support/large_range.cuh"
#include "support/order.hpp"

namespace tilefold::test {
namespace {

constexpr std::int64_t block = large_block;

const std::int64_t sizes[] = {(one << 31) - 1,          one << 31,          (one << 31) + 1,
                              (one << 32) - 5,          one << 32,          (one << 32) + 1,
                              (one << 32) + block + 77, (one << 33) + 12345};

TEST(CudaLarge, CountsEveryItem) {
  cuda_executor exec;
  const auto ones = thrust::make_constant_iterator(std::int64_t{1});
  const auto indices = thrust::make_counting_iterator(std::int64_t{0});
  for (const std::int64_t n : sizes) {
    EXPECT_EQ(reduce(exec, ones, ones + n), n);
    const auto last = static_cast<std::uint64_t>(n - 1);
    const std::uint64_t sum = n % 2 == 0 ? static_cast<std::uint64_t>(n / 2) * last
                                         : static_cast<std::uint64_t>(n) * (last / 2);
    EXPECT_EQ(static_cast<std::uint64_t>(reduce(exec, indices, indices + n)), sum) << "n = " << n;
    EXPECT_EQ(reduce(exec, indices, indices + n, maximum{}), n - 1);
  }
}

TEST(CudaLarge, KeepsTheOrder) {
  cuda_executor exec;
  const auto first = thrust::make_transform_iterator(
      thrust::make_counting_iterator(std::int64_t{0}), block_of_index{});
  for (const std::int64_t n : sizes) {
    EXPECT_EQ(reduce(exec, first, first + n, lifted_node_hash{}), tree_of_blocks(0, n))
        << "n = " << n;
  }
}

struct spread_of_index {
  TILEFOLD_HD float operator()(std::int64_t i) const {
    return static_cast<float>(i * 7919 % 16777213);
  }
};

// Blocks of such parts are ranges by themselves; those before and behind them are segments.
TEST(CudaLarge, PartsOfManyRanges) {
  cuda_executor exec;
  const auto indices = thrust::make_counting_iterator(std::int64_t{0});
  const auto first = thrust::make_transform_iterator(indices, block_of_index{});
  const auto spread = thrust::make_transform_iterator(indices, spread_of_index{});
  for (const std::int64_t begin : {one, std::int64_t{12345}, large_block + 3}) {
    const std::int64_t end = begin + (one << 27) + 77;
    auto whole = reduce_piece(exec, first, first + begin, 0, lifted_node_hash{});
    whole.append(exec, first + begin, first + end);
    EXPECT_EQ(whole.value(), tree_of_blocks(0, end)) << "from " << begin;

    const auto op = reducers::fuse(reducers::arg_max{}, reducers::mean{});
    auto fused = reduce_piece(exec, spread, spread + begin, 0, op);
    fused.append(exec, spread + begin, spread + end);
    const auto got = fused.value();
    const auto expected = reduce(exec, spread, spread + end, op);
    EXPECT_EQ(get<0>(got).index, get<0>(expected).index) << "from " << begin;
    EXPECT_EQ(get<1>(got), get<1>(expected)) << "from " << begin;
  }
}

TEST(CudaLarge, ReadsOneRealArrayOfMoreThanFourGibibytes) {
  const std::int64_t n = (one << 32) + 3 * block + 12347;
  if (!has_room_for(n)) GTEST_SKIP() << "needs 5.3 GB of free device memory";
  // The same 2^20 bytes over and over, but one byte changed in a few blocks, some of them 2^32 and
  // 2^31 bytes apart.
  const std::vector<std::uint8_t> bytes = block_of_bytes();
  const std::vector<std::int64_t> changed{
      5, (one << 31) + 5, (one << 31) + block + 6, (one << 32) - 1, (one << 32) + block + 9, n - 1};
  gpu_array<std::uint8_t> array(n + 1);
  for (const std::int64_t start : {0, 1}) {
    std::uint8_t* first = array.data() + start;
    repeat_block(bytes, first, n);
    const auto leaf = [&](std::int64_t i) {
      const auto byte = bytes[static_cast<std::size_t>(i % block)];
      const bool flipped = std::find(changed.begin(), changed.end(), i) != changed.end();
      return lifted_hash(static_cast<std::uint32_t>(flipped ? byte ^ 1 : byte));
    };
    for (const std::int64_t i : changed) {
      const auto byte = static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(i % block)] ^ 1);
      must(cudaMemcpy(first + i, &byte, 1, cudaMemcpyDefault));
    }
    const auto fold_of_block = [&](std::int64_t b) {
      running_fold<lifted_node_hash, lifted_hash> fold{lifted_node_hash{}};
      for (std::int64_t i = b * block; i < std::min(n, (b + 1) * block); ++i) fold.push(leaf(i));
      return fold.value();
    };
    const lifted_hash ordinary = fold_of_block(1);
    std::vector<lifted_hash> blocks(static_cast<std::size_t>((n + block - 1) / block), ordinary);
    blocks.back() = fold_of_block(static_cast<std::int64_t>(blocks.size()) - 1);
    for (const std::int64_t i : changed)
      blocks[static_cast<std::size_t>(i / block)] = fold_of_block(i / block);
    const std::uint8_t* constant = first;
    cuda_executor exec;
    exec.synchronize();
    EXPECT_EQ(reduce(exec, constant, constant + n, lifted_node_hash{}),
              neighbour_tree(lifted_node_hash{}, blocks))
        << "start = " << start;
  }
}

}  // namespace
}  // namespace tilefold::test
