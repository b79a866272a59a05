// SPDX-License-Identifier: Apache-2.0
//
// A host that folds in a program with CUDA does not start CUDA, which takes some tenths of a
// second; and once CUDA has been started it knows a GPU's memory when it sees it. One test, for no
// other may start CUDA before it.
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

namespace {

TEST(HostFirst, StartsNoCudaAndKnowsItsMemoryLater) {
  using tilefold::detail::cuda::is_driver_loaded;
  const std::vector<float> x(1000, 2.0f);
  const tilefold::host_executor host;
  EXPECT_EQ(tilefold::reduce(host, x.data(), x.data() + 1000), 2000.0f);
  EXPECT_FALSE(is_driver_loaded());

  float* on_gpu = nullptr;
  ASSERT_EQ(cudaMalloc(&on_gpu, 4000), cudaSuccess);
  EXPECT_TRUE(is_driver_loaded());
  EXPECT_THROW((void)tilefold::reduce(host, on_gpu, on_gpu + 1000), tilefold::memory_space_error);
  EXPECT_EQ(tilefold::reduce(host, x.data(), x.data() + 1000), 2000.0f);
  EXPECT_EQ(cudaFree(on_gpu), cudaSuccess);
}

}  // namespace
