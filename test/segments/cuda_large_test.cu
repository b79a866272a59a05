// SPDX-License-Identifier: Apache-2.0
//
// Segments of more items than 32 bits count.
#include <cstdint>
#include <utility>
#include <vector>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/segmented_reduce.hpp>

#include "support/device.cuh"
#include "support/large_range.cuh"

namespace tilefold::test {
namespace {

constexpr std::int64_t block = large_block;

TEST(CudaForestLarge, SegmentsOfMoreThanTwoToThe32Items) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> all{
      {0, (one << 32) + 12345},
      {one << 32, (one << 32) + 7},
      {(one << 32) + 5 * block, (one << 32) + 6 * block + 77},
      {3 * block, (one << 33) + 1},
      {one << 40, (one << 40) + 3 * block + 1}};
  std::vector<std::int64_t> begins, ends;
  std::vector<lifted_hash> expected;
  for (const auto& [begin, end] : all) {
    begins.push_back(begin);
    ends.push_back(end);
    expected.push_back(tree_of_blocks(begin, end));
  }
  const auto first = thrust::make_transform_iterator(
      thrust::make_counting_iterator(std::int64_t{0}), block_of_index{});
  const gpu_array<std::int64_t> device_begins(begins), device_ends(ends);
  gpu_array<lifted_hash> out(static_cast<std::int64_t>(all.size()));
  cuda_executor exec;
  const lifted_hash none{leaf_hash(-1)};
  segmented_reduce(exec, first, device_begins.data(), device_ends.data(), all.size(), out.data(),
                   none, lifted_node_hash{});
  const auto got = out.to_host();
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(got[i], lifted_node_hash{}(none, expected[i])) << "segment " << i;
  }
}

TEST(CudaForestLarge, EqualSegmentsOfMoreThanTwoToThe32Items) {
  const std::int64_t length = (one << 32) + block;
  const auto first = thrust::make_transform_iterator(
      thrust::make_counting_iterator(std::int64_t{0}), block_of_index{});
  gpu_array<lifted_hash> out(2);
  cuda_executor exec;
  const lifted_hash none{leaf_hash(-1)};
  segmented_reduce(exec, first, 2, length, out.data(), none, lifted_node_hash{});
  const auto got = out.to_host();
  EXPECT_EQ(got[0], lifted_node_hash{}(none, tree_of_blocks(0, length)));
  EXPECT_EQ(got[1], lifted_node_hash{}(none, tree_of_blocks(length, 2 * length)));
}

// Real memory: the same 2^20 bytes over and over, in segments of 2^13 + 1, so that no two segments
// of a few thousand are alike.
TEST(CudaForestLarge, OneArrayOfMoreThanFourGibibytes) {
  const std::int64_t length = (one << 13) + 1;
  const std::int64_t count = ((one << 32) + 3 * block) / length;
  const std::int64_t n = count * length;
  if (!has_room_for(n)) GTEST_SKIP() << "needs 5.3 GB of free device memory";
  const std::vector<std::uint8_t> bytes = block_of_bytes();
  const gpu_array<std::uint8_t> array(n);
  repeat_block(bytes, array.data(), n);
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i <= count; ++i) offsets.push_back(i * length);
  const gpu_array<std::int64_t> device_offsets(offsets);
  gpu_array<lifted_hash> out(count);
  cuda_executor exec;
  const lifted_hash none{leaf_hash(-1)};
  segmented_reduce(exec, static_cast<const std::uint8_t*>(array.data()), device_offsets.data(),
                   count, out.data(), none, lifted_node_hash{});
  const auto got = out.to_host();
  for (std::int64_t i = 0; i < count; i += i < 100 || i > count - 100 ? 1 : 197) {
    running_fold<lifted_node_hash, lifted_hash> fold{lifted_node_hash{}};
    for (std::int64_t k = i * length; k < (i + 1) * length; ++k) {
      fold.push(lifted_hash(leaf_hash(bytes[static_cast<std::size_t>(k % block)])));
    }
    ASSERT_EQ(got[static_cast<std::size_t>(i)], lifted_node_hash{}(none, fold.value())) << i;
  }
}

}  // namespace
}  // namespace tilefold::test
