// SPDX-License-Identifier: Apache-2.0
//
// Calls without an executor run in the default stream of their translation unit. This file is
// compiled twice: as it is, and with --default-stream per-thread, where that stream is the calling
// thread's own.
#include <cstdint>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>

#include "conformance/conformance.hpp"
#include "support/delay.cuh"
#include "support/device.cuh"

namespace tilefold::test {
namespace {

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
constexpr bool per_thread = true;
#else
constexpr bool per_thread = false;
#endif

static_assert(detail::cuda::this_build::per_thread_stream == per_thread);

float folded(const std::vector<float>& items) {
  return reference::fold<float>(reference::plus{}, items);
}

TEST(CudaDefaultStream, GivesTheSameBits) {
  for (const std::int64_t n : {1, 1000, 1000003}) {
    const auto items = make_items<float>(pattern::mixed, n);
    const gpu_array<float> array(items);
    EXPECT_TRUE(same_bits(tilefold::reduce(array.data(), array.data() + n), folded(items))) << n;
  }
}

// The legacy stream waits for the work of every ordinary stream, a thread's own for none of it.
TEST(CudaDefaultStream, IsTheOneOfTheTranslationUnit) {
  const auto items = make_items<float>(pattern::mixed, 100003);
  const gpu_array<float> array(items);
  gpu_array<int, memory::pinned> go(1);
  const scoped_stream other;
  // Once before: what is loaded and allocated at the first call may wait for everything.
  *go.data() = 1;
  wait_for<<<1, 1, 0, other>>>(go.data(), 1);
  (void)tilefold::reduce(array.begin(), array.end());
  must(cudaDeviceSynchronize());

  *go.data() = 0;
  // Seconds if nobody waits for it, a moment if somebody does.
  wait_for<<<1, 1, 0, other>>>(go.data(), per_thread ? 5 * a_second : 50 * a_millisecond);
  const float sum = tilefold::reduce(array.begin(), array.end());
  EXPECT_EQ(cudaStreamQuery(other), per_thread ? cudaErrorNotReady : cudaSuccess);
  *static_cast<volatile int*>(go.data()) = 1;
  must(cudaStreamSynchronize(other));
  EXPECT_TRUE(same_bits(sum, folded(items)));
}

// Stream 0 means the default stream of this unit to the runtime and to an executor alike.
TEST(CudaDefaultStream, OrdersTheFoldBehindCopies) {
  const auto items = make_items<float>(pattern::mixed, 1000003);
  const gpu_array<float, memory::pinned> source(items);
  const float expected = folded(items);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      gpu_array<float> array(source.size());
      gpu_array<float> out(1);
      for (int round = 0; round < 20; ++round) {
        const std::size_t bytes = items.size() * sizeof(float);
        must(cudaMemsetAsync(array.data(), 0, bytes, nullptr));
        must(cudaMemcpyAsync(array.data(), source.data(), bytes, cudaMemcpyDefault, nullptr));
        EXPECT_TRUE(same_bits(tilefold::reduce(array.begin(), array.end()), expected));
      }
      cuda_executor exec(per_thread ? cudaStreamPerThread : cudaStreamLegacy);
      must(cudaMemsetAsync(out.data(), 0, sizeof(float), nullptr));
      reduce_into(exec, array.begin(), array.end(), out.data());
      exec.synchronize();
      EXPECT_TRUE(same_bits(out.to_host()[0], expected));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tilefold::test
