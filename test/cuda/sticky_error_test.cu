// SPDX-License-Identifier: Apache-2.0
//
// A kernel that traps ends the CUDA context. From then on every call reports cuda_error, and
// executors can still be destroyed. A program of its own, since nothing on the GPU works
// afterwards.
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "support/device.cuh"

namespace tilefold::test {
namespace {

// Dies on the one item that says so.
struct trapping_plus {
  TILEFOLD_HD float operator()(float a, float b) const {
#if defined(__CUDA_ARCH__)
    if (a == 666.0f) __trap();
#endif
    return a + b;
  }
};

template <class Call>
void expect_cuda_error(Call call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const cuda_error& e) {
    EXPECT_NE(e.code(), static_cast<int>(cudaSuccess));
    EXPECT_NE(std::string(e.what()).find("cudaError"), std::string::npos) << e.what();
  }
}

TEST(CudaStickyError, IsReportedByEveryCallAndLeavesExecutorsDestructible) {
  std::vector<float> items(1000, 1.0f);
  gpu_array<float> good(items);
  items[600] = 666.0f;
  gpu_array<float> bad(items);
  gpu_array<float> out(1);
  {
    cuda_executor exec;
    cuda_executor bystander;
    EXPECT_EQ(reduce(exec, good.begin(), good.end(), trapping_plus{}), 1000.0f);
    EXPECT_EQ(reduce(bystander, good.begin(), good.end()), 1000.0f);
    EXPECT_EQ(tilefold::reduce(good.begin(), good.end()), 1000.0f);

    expect_cuda_error([&] { (void)reduce(exec, bad.begin(), bad.end(), trapping_plus{}); });
    expect_cuda_error([&] { (void)reduce(exec, good.begin(), good.end()); });
    expect_cuda_error([&] { (void)reduce(bystander, good.begin(), good.end()); });
    expect_cuda_error([&] { exec.synchronize(); });
    expect_cuda_error([&] { exec.reserve(1 << 26); });
    expect_cuda_error([] { const cuda_executor another; });

    // Calls that name no executor: where the memory is cannot be found out any more, and the host
    // must not try. A thread of its own has no executor for them yet.
    const auto without_executor = [&] {
      expect_cuda_error([&] { (void)tilefold::reduce(good.begin(), good.end()); });
      expect_cuda_error([&] { (void)tilefold::reduce(good.begin(), good.end(), 1.0f, maximum{}); });
      expect_cuda_error(
          [&] { (void)tilefold::transform_reduce(good.begin(), good.end(), good.begin(), 0.0f); });
    };
    without_executor();
    std::thread(without_executor).join();
    expect_cuda_error(
        [&] { reduce_into(bystander, good.begin(), good.end(), out.data(), 1.0f, maximum{}); });
  }
}

}  // namespace
}  // namespace tilefold::test
