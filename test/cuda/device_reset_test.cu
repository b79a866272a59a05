// SPDX-License-Identifier: Apache-2.0
//
// After cudaDeviceReset(): calls that name no executor go on, and an executor that was made before
// says what has become of it. A program of its own, for a reset ends everything on the GPU.
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>

#include "support/device.cuh"

namespace tilefold::test {
namespace {

const std::vector<int> items(1000003, 1);
// A result, as large as items need workspace.
constexpr int expected = 1000003;

int reduced_without_executor() {
  const gpu_array<int> device(items);
  return tilefold::reduce(device.begin(), device.end());
}

void count_runs_without_executor() {
  const gpu_array<int> keys(items);
  const gpu_array<int> keys_out(1);
  const gpu_array<int> values_out(1);
  EXPECT_EQ(tilefold::reduce_by_key(keys.begin(), keys.end(), keys.begin(), keys_out.data(),
                                    values_out.data()),
            1);
  EXPECT_EQ(values_out.to_host()[0], expected);
}

TEST(CudaDeviceReset, CallsWithoutExecutorGoOn) {
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(reduced_without_executor(), expected);
    EXPECT_EQ(reduced_without_executor(), expected);
    count_runs_without_executor();
    must(cudaDeviceReset());
  }
}

// What is where the old memory was is somebody else's.
TEST(CudaDeviceReset, LeavesTheMemoryOfOthersAlone) {
  EXPECT_EQ(reduced_without_executor(), expected);
  must(cudaDeviceReset());
  std::vector<std::unique_ptr<gpu_array<int>>> arrays;
  std::vector<std::unique_ptr<gpu_array<int, memory::pinned>>> pinned;
  const std::vector<int> pattern(65536, 0x5a5a5a5a);
  for (int i = 0; i < 64; ++i) {
    arrays.push_back(std::make_unique<gpu_array<int>>(pattern));
    pinned.push_back(std::make_unique<gpu_array<int, memory::pinned>>(pattern));
  }
  EXPECT_EQ(reduced_without_executor(), expected);
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(arrays[i]->to_host(), pattern);
    ASSERT_EQ(pinned[i]->to_host(), pattern);
  }
}

TEST(CudaDeviceReset, OtherThreadsGoOnToo) {
  for (int round = 0; round < 3; ++round) {
    std::thread([] {
      EXPECT_EQ(reduced_without_executor(), expected);
      must(cudaDeviceReset());
      EXPECT_EQ(reduced_without_executor(), expected);
    }).join();
    EXPECT_EQ(reduced_without_executor(), expected);
  }
}

TEST(CudaDeviceReset, ExecutorsMadeBeforeSaySo) {
  auto exec = std::make_unique<cuda_executor>();
  {
    const gpu_array<int> device(items);
    EXPECT_EQ(reduce(*exec, device.begin(), device.end()), expected);
  }
  must(cudaDeviceReset());
  const gpu_array<int> device(items);
  try {
    (void)reduce(*exec, device.begin(), device.end());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const cuda_error& e) {
    EXPECT_NE(std::string(e.what()).find("cudaDeviceReset"), std::string::npos) << e.what();
    EXPECT_EQ(e.code(), static_cast<int>(cudaErrorContextIsDestroyed));
  }
  EXPECT_THROW(exec->reserve(1 << 24), cuda_error);
  EXPECT_THROW(exec->synchronize(), cuda_error);
  exec.reset();
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  cuda_executor another;
  EXPECT_EQ(reduce(another, device.begin(), device.end()), expected);
}

}  // namespace
}  // namespace tilefold::test
