// SPDX-License-Identifier: Apache-2.0
//
// Segments of which more are for blocks than their queue holds (full_queue.cuh), whose items are
// computed; and so many for warps that these take turns (warps_kernel.cuh): every segment once, in
// the bits of its tree, and the counters of turns are as they were after each call.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/if_empty.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "support/device.cuh"
#include "support/full_queue.cuh"
#include "support/oracle.hpp"
#include "support/order.hpp"
#include "support/runs.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

using queue = full_queue;

TEST(CudaFullQueue, EverySegmentHasItsTree) {
  const lifted_hash initial{leaf_hash(std::int64_t{1} << 40)};
  std::vector<lifted_hash> expected;
  for (std::int64_t t = 0; t < queue::different_trees; ++t) {
    expected.push_back(hash_of_run(initial, queue::begin_of(t), queue::begin_of(t + 1)));
  }
  std::vector<std::int64_t> offsets;
  for (std::int64_t t = 0; t <= queue::periods * queue::trees; ++t) {
    offsets.push_back(queue::begin_of(t));
  }
  const gpu_array<std::int64_t> on_gpu(offsets);
  const auto items = thrust::make_transform_iterator(
      thrust::make_counting_iterator(std::int64_t{0}), number_of_item{});
  cuda_executor exec;
  gpu_array<lifted_hash> out(queue::periods * queue::trees);
  // After each call, the counters of the queue are zero again.
  for (const std::int64_t periods : {queue::periods, queue::periods, std::int64_t{800}}) {
    const std::int64_t trees = periods * queue::trees;
    segmented_reduce(exec, items, on_gpu.data(), trees, out.data(), initial, lifted_node_hash{});
    const auto got = out.to_host();
    for (std::int64_t t = 0; t < trees; ++t) {
      ASSERT_EQ(got[static_cast<std::size_t>(t)],
                expected[static_cast<std::size_t>(t % queue::different_trees)])
          << t << " of " << trees;
    }
  }
}

// Every other order of items or operands gives another number.
struct mix {
  TILEFOLD_HD std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a * 0x9e3779b1u + (b ^ b >> 15);
  }
};

struct shape {
  std::int64_t trees;
  std::int64_t most_items;
  int one_in;  // segments that are for warps; the others are short
};

class CudaWarpTurns : public testing::TestWithParam<shape> {
 protected:
  // More than lanes fold, fewer than blocks do; or few items. One is for blocks, if there is a long
  // one.
  std::vector<std::int64_t> offsets_of(std::mt19937_64& random, bool with_long) const {
    const auto [trees, most_items, one_in] = GetParam();
    std::uniform_int_distribution<std::int64_t> length(513, most_items);
    std::uniform_int_distribution<std::int64_t> few(0, 9);
    std::uniform_int_distribution<int> kind(1, one_in);
    std::vector<std::int64_t> offsets{0};
    for (std::int64_t t = 0; t < trees; ++t) {
      const bool is_long = with_long && t == trees / 3;
      const std::int64_t count = kind(random) == 1 ? length(random) : few(random);
      offsets.push_back(offsets.back() + (is_long ? 70'000 : count));
    }
    return offsets;
  }
};

std::vector<std::uint32_t> results_on_gpu(cuda_executor& gpu, const gpu_array<std::uint32_t>& items,
                                          const std::vector<std::int64_t>& offsets) {
  const auto trees = static_cast<std::int64_t>(offsets.size()) - 1;
  const gpu_array<std::int64_t> bounds(offsets);
  const gpu_array<std::uint32_t> out(std::vector<std::uint32_t>(offsets.size() - 1, 77u));
  segmented_reduce(gpu, items.data(), bounds.data(), trees, out.data(), if_empty(mix{}, 0u));
  return out.to_host();
}

std::vector<std::uint32_t> trees_of(const std::vector<std::uint32_t>& items,
                                    const std::vector<std::int64_t>& offsets) {
  std::vector<std::uint32_t> results;
  for (std::size_t t = 0; t + 1 < offsets.size(); ++t) {
    const auto begin = static_cast<std::size_t>(offsets[t]);
    const auto count = static_cast<std::size_t>(offsets[t + 1] - offsets[t]);
    const auto leaf = [&](std::size_t i) { return items[i]; };
    results.push_back(count == 0 ? 0 : tree_of_leaves<std::uint32_t>(mix{}, leaf, begin, count));
  }
  return results;
}

TEST_P(CudaWarpTurns, FoldEverySegmentInCallAfterCall) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  const std::vector<std::int64_t> offsets[] = {offsets_of(random, false), offsets_of(random, true)};
  const std::int64_t n = detail::larger(offsets[0].back(), offsets[1].back());
  std::vector<std::uint32_t> items;
  for (std::int64_t i = 0; i < n; ++i) {
    items.push_back(static_cast<std::uint32_t>(mixed_bits(seed() + static_cast<std::uint64_t>(i))));
  }
  const gpu_array<std::uint32_t> on_gpu(items);
  const std::vector<std::uint32_t> expected[] = {trees_of(items, offsets[0]),
                                                 trees_of(items, offsets[1])};
  cuda_executor gpu;
  // No call gets a new workspace, whose counters would be zero.
  gpu.reserve(cuda_executor::segments_workspace_bytes(GetParam().trees, sizeof(std::uint32_t)));
  for (const int with_long : {0, 0, 1, 0, 1, 1, 0}) {
    EXPECT_TRUE(results_on_gpu(gpu, on_gpu, offsets[with_long]) == expected[with_long])
        << (with_long ? "with a long one" : "without");
  }
}

// Of the first, turns are one segment long; of the second, several. Of the others most segments are
// short, so that a group has several, and a warp takes many groups.
INSTANTIATE_TEST_SUITE_P(Segments, CudaWarpTurns,
                         testing::Values(shape{60'000, 2'012, 1}, shape{250'000, 540, 1},
                                         shape{300'000, 700, 3}, shape{600'000, 600, 20}));

}  // namespace
}  // namespace tilefold::test
