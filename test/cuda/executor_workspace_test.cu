// SPDX-License-Identifier: Apache-2.0
//
// The workspace of a CUDA executor: it grows from a memory resource and is reused, or is the
// caller's.
#include <cstdint>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>

#include "conformance/conformance.hpp"
#include "executor.hpp"
#include "support/device.cuh"
#include "support/device_order.cuh"
#include "support/memory_resource.cuh"

namespace tilefold::test {
namespace {

TEST(CudaWorkspace, IsTakenOnceAndGivenBack) {
  tracking_resource memory;
  gpu_array<float> array(mixed(3000000));
  {
    cuda_executor exec(memory);
    EXPECT_EQ(memory.allocations(), 0);
    const float first = reduce(exec, array.begin(), array.end());
    const int grown = memory.allocations();
    EXPECT_GE(grown, 1);
    for (std::int64_t n = 1; n < array.size(); n += 99991) {
      (void)reduce(exec, array.begin(), array.begin() + n);
    }
    EXPECT_TRUE(same_bits(reduce(exec, array.begin(), array.end()), first));
    EXPECT_EQ(memory.allocations(), grown) << "smaller folds fit";
  }
  EXPECT_EQ(memory.bytes_in_use(), 0);
  EXPECT_EQ(memory.allocations(), memory.deallocations());
}

TEST(CudaWorkspace, GrowsWithTheFold) {
  tracking_resource memory;
  {
    cuda_executor base(memory);
    const auto exec = with_policy<tile_policy{32, 1}>(base);
    std::int64_t before = base.workspace_bytes();
    for (const std::int64_t n : {40, 5000, 200000, 3000000}) {
      const auto sizes = std::vector<std::int64_t>{n};
      const auto first = thrust::make_counting_iterator(std::uint32_t{0});
      EXPECT_TRUE(same_folds(device_folds(base, exec, first, sizes, lifted_node_hash{}),
                             prefix_folds(node_hash{}, leaf_hash, sizes), sizes));
      EXPECT_GE(base.workspace_bytes(), before) << "n = " << n;
      before = base.workspace_bytes();
    }
    // 93750 partials of 16 bytes for the last.
    EXPECT_GT(before, 93750 * 16);
    EXPECT_GT(memory.allocations(), 1);
  }
  EXPECT_EQ(memory.bytes_in_use(), 0);
}

TEST(CudaWorkspace, ReservedAheadIsEnough) {
  tracking_resource memory;
  gpu_array<float> array(mixed(3000000));
  cuda_executor exec(memory);
  exec.reserve(cuda_executor::workspace_bytes(array.size(), sizeof(float), sizeof(float)));
  EXPECT_GE(exec.workspace_bytes(),
            cuda_executor::workspace_bytes(array.size(), sizeof(float), sizeof(float)));
  EXPECT_EQ(memory.allocations(), 1);
  for (std::int64_t n = array.size(); n > 0; n -= 199999) {
    (void)reduce(exec, array.begin(), array.begin() + n);
  }
  EXPECT_EQ(memory.allocations(), 1);
  exec.reserve(1);
  EXPECT_EQ(memory.allocations(), 1);
  EXPECT_THROW(exec.reserve(-1), invalid_range_error);
}

TEST(CudaWorkspace, CanBeTheCallers) {
  const std::vector<float> items = mixed(1000003);
  gpu_array<float> array(items);
  const std::int64_t bytes = cuda_executor::workspace_bytes(1000003, 4, 4) + 256;
  const std::int64_t guard = 1024;
  gpu_array<unsigned char> space(bytes + 2 * guard);
  must(cudaMemset(space.data(), 0xab, static_cast<std::size_t>(space.size())));
  tracking_resource memory;
  cuda_executor exec(memory);
  exec.use_workspace(space.data() + guard, bytes);
  EXPECT_TRUE(same_bits(reduce(exec, array.begin(), array.end()), folded(items)));
  EXPECT_EQ(memory.allocations(), 0);
  const auto after = space.to_host();
  for (std::int64_t i = 0; i < guard; ++i) {
    ASSERT_EQ(after[static_cast<std::size_t>(i)], 0xab) << "byte before the workspace";
    ASSERT_EQ(after[static_cast<std::size_t>(guard + bytes + i)], 0xab) << "byte after it";
  }
}

TEST(CudaWorkspace, OfTheCallersThatIsTooSmallIsReplaced) {
  const auto sizes = std::vector<std::int64_t>{3000000};
  gpu_array<unsigned char> space(4096);
  tracking_resource memory;
  cuda_executor base(memory);
  base.use_workspace(space.data(), space.size());
  const auto exec = with_policy<tile_policy{32, 1}>(base);
  const auto first = thrust::make_counting_iterator(std::uint32_t{0});
  EXPECT_TRUE(same_folds(device_folds(base, exec, first, sizes, lifted_node_hash{}),
                         prefix_folds(node_hash{}, leaf_hash, sizes), sizes));
  EXPECT_EQ(memory.allocations(), 1);
}

TEST(CudaWorkspace, OfTheCallersOfAnySizeIsNotOverrun) {
  // Every odd size around what is needed: the executor either fits or takes its own.
  const std::int64_t n = 20000;
  const auto sizes = std::vector<std::int64_t>{n};
  const auto expected = prefix_folds(node_hash{}, leaf_hash, sizes);
  const auto first = thrust::make_counting_iterator(std::uint32_t{0});
  gpu_array<unsigned char> space(32768);
  for (std::int64_t bytes = 9000; bytes < 13000; bytes += 37) {
    must(cudaMemset(space.data(), 0xab, static_cast<std::size_t>(space.size())));
    cuda_executor base;
    base.use_workspace(space.data(), bytes);
    const auto exec = with_policy<tile_policy{32, 1}>(base);
    ASSERT_TRUE(
        same_folds(device_folds(base, exec, first, sizes, lifted_node_hash{}), expected, sizes));
    const auto after = space.to_host();
    for (std::size_t i = static_cast<std::size_t>(bytes); i < after.size(); ++i) {
      ASSERT_EQ(after[i], 0xab) << "byte " << i << " of a workspace of " << bytes;
    }
  }
}

TEST(CudaWorkspace, OfTheCallersMustBeUsable) {
  cuda_executor exec;
  gpu_array<unsigned char> space(4096);
  EXPECT_THROW(exec.use_workspace(nullptr, 4096), null_pointer_error);
  EXPECT_THROW(exec.use_workspace(space.data() + 8, 4000), memory_space_error);
  EXPECT_THROW(exec.use_workspace(space.data(), 16), memory_space_error);
}

TEST(CudaExecutor, MovesWithItsStreamAndWorkspace) {
  const std::vector<float> items = mixed(1000003);
  gpu_array<float> array(items);
  tracking_resource memory;
  {
    cuda_executor first(memory);
    // Another value, in the place where the next one is waited for.
    (void)reduce(first, array.begin(), array.end() - 1000);
    const cudaStream_t stream = first.stream();
    cuda_executor second(std::move(first));
    EXPECT_EQ(second.stream(), stream);
    const int grown = memory.allocations();
    EXPECT_TRUE(same_bits(reduce(second, array.begin(), array.end()), folded(items)));
    EXPECT_EQ(memory.allocations(), grown);
  }
  EXPECT_EQ(memory.bytes_in_use(), 0);
}

}  // namespace
}  // namespace tilefold::test
