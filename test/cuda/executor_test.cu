// SPDX-License-Identifier: Apache-2.0
//
// The CUDA executor's promises: the order of its stream, asynchronous calls, graphs, many threads
// at once; its workspace, which grows from a memory resource and is reused, or is the caller's;
// many types in a row.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/detail/core/fold_executor.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "conformance/conformance.hpp"
#include "executor.hpp"
#include "support/delay.cuh"
#include "support/device.cuh"
#include "support/device_order.cuh"
#include "support/memory_resource.cuh"
#include "support/random.hpp"
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

static_assert(detail::fold_executor<cuda_executor>);

// Tickets that one launch left behind would break a later one.
TEST(CudaExecutor, ServesAnySizesAndTypesInARow) {
  const auto floats = mixed(200003);
  const auto halves = make_items<half>(pattern::mixed, 200003);
  gpu_array<float> float_array(floats);
  gpu_array<half> half_array(halves);
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < 200003; ++i) words.push_back(i);
  gpu_array<std::uint32_t> word_array(words);

  std::vector<std::int64_t> sizes;
  shape_stream random(seed());
  for (int i = 0; i < 400; ++i) {
    sizes.push_back(1 + static_cast<std::int64_t>(random() % (i % 3 == 0 ? 200003 : 5000)));
  }
  std::vector<std::int64_t> sorted = sizes;
  std::sort(sorted.begin(), sorted.end());
  const auto position = [&](std::int64_t n) {
    return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), n) -
                                    sorted.begin());
  };
  const auto float_sums = prefix_folds(
      reference::plus{}, [&](std::int64_t i) { return floats[static_cast<std::size_t>(i)]; },
      sorted);
  const auto half_sums = prefix_folds(
      reference::plus{},
      [&](std::int64_t i) { return static_cast<float>(halves[static_cast<std::size_t>(i)]); },
      sorted);
  const auto hashes = prefix_folds(node_hash{}, leaf_hash, sorted);

  cuda_executor exec;
  const auto small_tiles = with_policy<tile_policy{32, 1}>(exec);
  gpu_array<float> float_out(400);
  gpu_array<float> half_out(400);
  gpu_array<lifted_hash> hash_out(400);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    reduce_into(exec, float_array.data(), float_array.data() + sizes[i], float_out.data() + i);
    reduce_into(small_tiles, word_array.data(), word_array.data() + sizes[i], hash_out.data() + i,
                lifted_node_hash{});
    reduce_into(exec, half_array.data(), half_array.data() + sizes[i], half_out.data() + i);
  }
  exec.synchronize();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t at = position(sizes[i]);
    ASSERT_TRUE(same_bits(float_out.to_host()[i], float_sums[at])) << "n = " << sizes[i];
    ASSERT_TRUE(same_bits(half_out.to_host()[i], half_sums[at])) << "n = " << sizes[i];
    ASSERT_EQ(hash_out.to_host()[i], hashes[at]) << "n = " << sizes[i];
  }
}

struct wide_sums {
  std::uint64_t part[48];  // more than executors have room for at first
};

struct widen {
  __host__ __device__ wide_sums operator()(std::uint32_t x) const {
    wide_sums wide;
    for (std::uint32_t k = 0; k < 48; ++k) wide.part[k] = std::uint64_t{x} + k;
    return wide;
  }
};

struct add_wide {
  __host__ __device__ wide_sums operator()(const wide_sums& a, const wide_sums& b) const {
    wide_sums sum;
    for (int k = 0; k < 48; ++k) sum.part[k] = a.part[k] + b.part[k];
    return sum;
  }
};

// Results of several sizes share the memory in which they are waited for.
TEST(CudaExecutor, ReturnsAnySizesAndTypesInARow) {
  const auto items = mixed(3000000);
  const gpu_array<float> array(items);
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < 5000; ++i) words.push_back(i);
  const gpu_array<std::uint32_t> word_array(words);
  std::vector<std::int64_t> sizes;
  shape_stream random(seed());
  for (int i = 0; i < 300; ++i) {
    sizes.push_back(1 + static_cast<std::int64_t>(random() % (i % 3 == 0 ? 3000000 : 5000)));
  }
  std::vector<std::int64_t> sorted = sizes;
  std::sort(sorted.begin(), sorted.end());
  const auto sums = prefix_folds(
      reference::plus{}, [&](std::int64_t i) { return items[static_cast<std::size_t>(i)]; },
      sorted);
  cuda_executor exec;
  for (const std::int64_t n : sizes) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), n) - sorted.begin();
    ASSERT_TRUE(
        same_bits(reduce(exec, array.data(), array.data() + n), sums[static_cast<std::size_t>(at)]))
        << "n = " << n;
    const auto m = static_cast<std::uint64_t>(n % 5000 + 1);
    const wide_sums wide = transform_reduce(exec, word_array.data(), word_array.data() + m,
                                            wide_sums{}, add_wide{}, widen{});
    for (std::uint64_t k = 0; k < 48; ++k) {
      ASSERT_EQ(wide.part[k], m * (m - 1) / 2 + m * k) << "n = " << m;
    }
  }
}

}  // namespace
}  // namespace tilefold::test
