// SPDX-License-Identifier: Apache-2.0
//
// Segments of which more are for blocks than their queue holds (full_queue.cuh). Items are
// computed.
#include <cstdint>
#include <vector>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/segmented_reduce.hpp>

#include "support/device.cuh"
#include "support/full_queue.cuh"
#include "support/order.hpp"
#include "support/runs.hpp"

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

}  // namespace
}  // namespace tilefold::test
