// SPDX-License-Identifier: Apache-2.0
//
// The CUDA executor's promises: the order of its stream, asynchronous calls, graphs, many threads
// at once. (executor_workspace_test.cu has its workspace, executor_types_test.cu many types in a
// row.)
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>

#include "conformance/conformance.hpp"
#include "executor.hpp"
#include "support/delay.cuh"
#include "support/device.cuh"
#include "support/device_order.cuh"
#include "support/memory_resource.cuh"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

class CudaStreams : public ::testing::Test {
 protected:
  void works_in(cudaStream_t stream) {
    cuda_executor exec(stream);
    EXPECT_EQ(exec.stream(), stream);
    gpu_array<float> out(1);
    EXPECT_TRUE(same_bits(reduce(exec, array_.begin(), array_.end()), folded(items_)));
    reduce_into(exec, array_.begin(), array_.end(), out.data());
    exec.synchronize();
    EXPECT_TRUE(same_bits(out.to_host()[0], folded(items_)));
  }

  std::vector<float> items_ = mixed(100003);
  gpu_array<float> array_{items_};
};

TEST_F(CudaStreams, OfTheExecutorsOwn) {
  cuda_executor exec;
  EXPECT_NE(exec.stream(), nullptr);
  EXPECT_TRUE(same_bits(reduce(exec, array_.begin(), array_.end()), folded(items_)));
  cuda_executor other;
  EXPECT_NE(exec.stream(), other.stream());
}

TEST_F(CudaStreams, Given) {
  const scoped_stream ordinary;
  works_in(ordinary);
  const scoped_stream independent(cudaStreamNonBlocking);
  works_in(independent);
}

TEST_F(CudaStreams, OfTheDefaultKinds) {
  works_in(nullptr);
  works_in(cudaStreamLegacy);
  works_in(cudaStreamPerThread);
}

TEST_F(CudaStreams, OutliveABorrowingExecutor) {
  const scoped_stream stream;
  {
    cuda_executor exec(stream);
  }
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  works_in(stream);
}

TEST_F(CudaStreams, OrderTheFoldAmongOtherWork) {
  const std::vector<float> before = mixed(100003, 2);
  const std::vector<float> after = mixed(100003, 3);
  gpu_array<float, memory::pinned> first(before);
  gpu_array<float, memory::pinned> second(after);
  gpu_array<float> out(2);
  cuda_executor exec;
  const std::size_t bytes = before.size() * sizeof(float);
  // Each copy overwrites the input right behind the fold that reads it.
  must(cudaMemcpyAsync(array_.data(), first.data(), bytes, cudaMemcpyDefault, exec.stream()));
  reduce_into(exec, array_.begin(), array_.end(), out.data());
  must(cudaMemcpyAsync(array_.data(), second.data(), bytes, cudaMemcpyDefault, exec.stream()));
  reduce_into(exec, array_.begin(), array_.end(), out.data() + 1);
  exec.synchronize();
  EXPECT_TRUE(same_bits(out.to_host()[0], folded(before)));
  EXPECT_TRUE(same_bits(out.to_host()[1], folded(after)));
}

// However long that takes: a call that returns its value looks for it by itself at first.
TEST_F(CudaStreams, AreWaitedForByReduce) {
  const std::vector<float> after = mixed(100003, 4);
  const gpu_array<float, memory::pinned> second(after);
  gpu_array<int, memory::pinned> go(1);
  cuda_executor exec;
  EXPECT_TRUE(same_bits(reduce(exec, array_.begin(), array_.end()), folded(items_)));
  *go.data() = 0;
  wait_for<<<1, 1, 0, exec.stream()>>>(go.data(), 5 * a_second);
  must(cudaMemcpyAsync(array_.data(), second.data(), after.size() * sizeof(float),
                       cudaMemcpyDefault, exec.stream()));
  const std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    *static_cast<volatile int*>(go.data()) = 1;
  });
  const float sum = reduce(exec, array_.begin(), array_.end());
  EXPECT_TRUE(same_bits(sum, folded(after)));
}

TEST_F(CudaStreams, AreNotWaitedForByReduceInto) {
  cuda_executor exec;
  gpu_array<float> out(1);
  gpu_array<int, memory::pinned> go(1);
  // Once before: the first call loads the kernel and grows the workspace, which may wait.
  *go.data() = 1;
  wait_for<<<1, 1, 0, exec.stream()>>>(go.data(), 5 * a_second);
  reduce_into(exec, array_.begin(), array_.end(), out.data());
  exec.synchronize();
  must(cudaMemset(out.data(), 0, sizeof(float)));
  must(cudaDeviceSynchronize());

  *go.data() = 0;
  wait_for<<<1, 1, 0, exec.stream()>>>(go.data(), 5 * a_second);
  reduce_into(exec, array_.begin(), array_.end(), out.data());
  EXPECT_EQ(cudaStreamQuery(exec.stream()), cudaErrorNotReady);
  *static_cast<volatile int*>(go.data()) = 1;
  exec.synchronize();
  EXPECT_TRUE(same_bits(out.to_host()[0], folded(items_)));
}

// Runs check(thread) in four threads at once, many times each.
template <class Check>
void in_threads(Check check) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&check, t] { check(t); });
  for (std::thread& thread : threads) thread.join();
}

TEST(CudaThreads, EachWithItsOwnExecutor) {
  const std::vector<float> items = mixed(300007);
  gpu_array<float> array(items);
  const auto sizes = landmark_sizes(18, 60, seed());
  const auto expected = prefix_folds(
      reference::plus{}, [&](std::int64_t i) { return items[static_cast<std::size_t>(i)]; }, sizes);
  in_threads([&](int t) {
    cuda_executor exec;
    for (int round = 0; round < 10; ++round) {
      for (std::size_t i = static_cast<std::size_t>(t) % 2; i < sizes.size(); i += 2) {
        const float got = reduce(exec, array.data(), array.data() + sizes[i]);
        EXPECT_TRUE(same_bits(got, expected[i])) << "n = " << sizes[i];
      }
    }
  });
}

TEST(CudaThreads, WithoutNamingAnExecutor) {
  const std::vector<float> items = mixed(300007);
  gpu_array<float> array(items);
  const float expected = folded(items);
  in_threads([&](int) {
    for (int round = 0; round < 200; ++round) {
      EXPECT_TRUE(same_bits(tilefold::reduce(array.data(), array.data() + array.size()), expected));
    }
  });
}

TEST(CudaThreads, OfOneStreamEach) {
  const std::vector<float> items = mixed(300007);
  gpu_array<float> array(items);
  const float expected = folded(items);
  in_threads([&](int) {
    cuda_executor exec(cudaStreamPerThread);
    gpu_array<float> out(200);
    for (int round = 0; round < 200; ++round) {
      reduce_into(exec, array.begin(), array.end(), out.data() + round);
    }
    exec.synchronize();
    for (const float got : out.to_host()) EXPECT_TRUE(same_bits(got, expected));
  });
}

class CudaGraphs : public ::testing::Test {
 protected:
  // Records body(exec) and returns what can be launched.
  template <class Body>
  cudaGraphExec_t recorded(cudaStreamCaptureMode mode, Body body) {
    cudaGraph_t graph = nullptr;
    must(cudaStreamBeginCapture(exec_.stream(), mode));
    body();
    must(cudaStreamEndCapture(exec_.stream(), &graph));
    cudaGraphExec_t launchable = nullptr;
    must(cudaGraphInstantiate(&launchable, graph, 0));
    must(cudaGraphDestroy(graph));
    return launchable;
  }

  void reserve() {
    exec_.reserve(cuda_executor::workspace_bytes(array_.size(), sizeof(float), sizeof(float)));
    exec_.synchronize();
  }

  tracking_resource memory_;
  cuda_executor exec_{memory_};
  gpu_array<float> array_{mixed(1000003)};
  gpu_array<float> out_{2};
};

TEST_F(CudaGraphs, ReplayWithNewInput) {
  reserve();
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeRelaxed}) {
    const cudaGraphExec_t graph = recorded(mode, [&] {
      reduce_into(exec_, array_.begin(), array_.end(), out_.data());
      reduce_into(exec_, array_.begin(), array_.begin() + 777, out_.data() + 1, 2.5f, maximum{});
    });
    for (int replay = 0; replay < 100; ++replay) {
      // New items every tenth time, so that a stale result would show.
      if (replay % 10 == 0) {
        const std::vector<float> items =
            mixed(array_.size(), static_cast<std::uint64_t>(replay + 1));
        array_.assign(items.data(), array_.size());
      }
      must(cudaGraphLaunch(graph, exec_.stream()));
      exec_.synchronize();
      const auto host = array_.to_host();
      if (replay % 10 == 0) {
        ASSERT_TRUE(same_bits(out_.to_host()[0], folded(host))) << "replay " << replay;
        const std::vector<float> some(host.begin(), host.begin() + 777);
        ASSERT_TRUE(same_bits(out_.to_host()[1],
                              std::max(2.5f, reference::fold<float>(reference::maximum{}, some))));
      } else {
        ASSERT_TRUE(same_bits(out_.to_host()[0], tilefold::reduce(host))) << "replay " << replay;
      }
      must(cudaMemset(out_.data(), 0xee, 2 * sizeof(float)));
    }
    must(cudaGraphExecDestroy(graph));
  }
  EXPECT_EQ(memory_.allocations(), 1);
}

TEST_F(CudaGraphs, NeedAWorkspaceReservedBefore) {
  const std::vector<float> before{1.0f, 2.0f};
  out_.assign(before.data(), 2);
  const cudaGraphExec_t graph = recorded(cudaStreamCaptureModeThreadLocal, [&] {
    try {
      reduce_into(exec_, array_.begin(), array_.end(), out_.data());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const capture_error& e) {
      EXPECT_NE(std::string(e.what()).find("reserve("), std::string::npos) << e.what();
    }
    // The capture goes on, and what needs no workspace can be recorded.
    reduce_into(exec_, array_.begin(), array_.begin() + 1, out_.data() + 1);
  });
  EXPECT_EQ(memory_.allocations(), 0);
  must(cudaGraphLaunch(graph, exec_.stream()));
  exec_.synchronize();
  EXPECT_EQ(out_.to_host()[0], 1.0f);
  EXPECT_EQ(out_.to_host()[1], array_.to_host()[0]);
  must(cudaGraphExecDestroy(graph));
  EXPECT_TRUE(same_bits(reduce(exec_, array_.begin(), array_.end()), folded(array_.to_host())));
}

TEST_F(CudaGraphs, RefuseCallsThatReturnTheirValue) {
  reserve();
  const cudaGraphExec_t graph = recorded(cudaStreamCaptureModeThreadLocal, [&] {
    EXPECT_THROW((void)reduce(exec_, array_.begin(), array_.end()), capture_error);
    EXPECT_THROW(exec_.reserve(std::int64_t{1} << 30), capture_error);
  });
  must(cudaGraphExecDestroy(graph));
  EXPECT_TRUE(same_bits(reduce(exec_, array_.begin(), array_.end()), folded(array_.to_host())));
}

TEST_F(CudaGraphs, RecordEmptyRangesToo) {
  const cudaGraphExec_t graph = recorded(cudaStreamCaptureModeThreadLocal, [&] {
    reduce_into(exec_, array_.begin(), array_.begin(), out_.data(), 3.5f);
  });
  must(cudaGraphLaunch(graph, exec_.stream()));
  exec_.synchronize();
  EXPECT_EQ(out_.to_host()[0], 3.5f);
  must(cudaGraphExecDestroy(graph));
}

}  // namespace
}  // namespace tilefold::test
