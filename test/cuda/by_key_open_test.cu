// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key where more open runs are for blocks than their queue holds (full_queue.cuh). Keys
// and items are computed.
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/exact.hpp>

#include "support/device.cuh"
#include "support/full_queue.cuh"
#include "support/order.hpp"
#include "support/runs.hpp"

namespace tilefold::test {
namespace {

using queue = full_queue;

/// Runs of `item` have the values expected(begin, end), under these arguments of reduce_by_key.
template <class T, class Item, class Expected, class... Arguments>
void expect_values(Item item, Expected expected, Arguments... arguments) {
  std::vector<T> of_runs;
  for (std::int64_t r = 0; r < queue::different_trees; ++r) {
    of_runs.push_back(expected(queue::begin_of(r), queue::begin_of(r + 1)));
  }
  const auto counting = thrust::make_counting_iterator(std::int64_t{0});
  const auto keys = thrust::make_transform_iterator(counting, tree_of_item{});
  const auto items = thrust::make_transform_iterator(counting, item);
  cuda_executor exec;
  gpu_array<std::int64_t> keys_out(queue::periods * queue::trees);
  gpu_array<T> out(queue::periods * queue::trees);
  // After each call, the counters of the queue are zero again.
  for (const std::int64_t periods : {queue::periods, queue::periods, std::int64_t{200}}) {
    const std::int64_t runs = periods * queue::trees;
    ASSERT_EQ(reduce_by_key(exec, keys, keys + periods * queue::period, items, keys_out.data(),
                            out.data(), arguments...),
              runs);
    const auto got_keys = keys_out.to_host();
    const auto got = out.to_host();
    for (std::int64_t r = 0; r < runs; ++r) {
      const auto at = static_cast<std::size_t>(r);
      const T& value = of_runs[static_cast<std::size_t>(r % queue::different_trees)];
      ASSERT_EQ(got_keys[at], r);
      ASSERT_EQ(std::memcmp(&got[at], &value, sizeof(T)), 0) << "run " << r << " of " << runs;
    }
  }
}

TEST(CudaByKeyOpen, MoreRunsForBlocksThanTheirQueueHolds) {
  const lifted_hash initial{leaf_hash(std::int64_t{1} << 40)};
  expect_values<lifted_hash>(
      number_of_item{},
      [&](std::int64_t begin, std::int64_t end) { return hash_of_run(initial, begin, end); },
      std::equal_to<>{}, initial, lifted_node_hash{});
}

/// A period of items whose sums few words hold, one of others, and one of minus zeros.
struct summand_of_item {
  TILEFOLD_HD double operator()(std::int64_t i) const {
    const std::int64_t k = i % queue::different_items;
    if (k < queue::period) return static_cast<double>(k % 1000 - 300);
    if (k >= 2 * queue::period) return -0.0;
    return k % 3 == 0 ? 0x1p900 : k % 3 == 1 ? -0x1p900 : 1.0;
  }
};

TEST(CudaByKeyOpen, ExactSumsOfMoreRunsThanTheQueueHolds) {
  expect_values<double>(
      summand_of_item{},
      [](std::int64_t begin, std::int64_t end) {
        exact_accumulator<double> sum;
        for (std::int64_t i = begin; i < end; ++i) sum.add(summand_of_item{}(i));
        return sum.value();
      },
      reducers::exact_sum{});
}

}  // namespace
}  // namespace tilefold::test
