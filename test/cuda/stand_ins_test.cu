// SPDX-License-Identifier: Apache-2.0
//
// What stands for an executor, on a GPU: the same bits as the executor's, streams that end while
// their work goes on, handles that are used again, graphs, threads, and resources of cuda::mr's and
// RMM's kind. (stand_ins_nogpu_test.cu sees what is kept and when it is given back.)
#include <cstddef>
#include <cstdint>
#include <execution>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <cuda/stream_ref>

#include <gtest/gtest.h>

#include <tilefold/cub_compat.cuh>
#include <tilefold/cuda.cuh>
#include <tilefold/extrema.hpp>
#include <tilefold/host.hpp>
#include <tilefold/memory_resource.cuh>
#include <tilefold/piece.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/thrust_compat.hpp>
#include <tilefold/transform_reduce.hpp>
#include <tilefold/transform_rows.hpp>

#include "conformance/conformance.hpp"
#include "support/delay.cuh"
#include "support/device.cuh"
#include "support/stand_ins.cuh"

namespace tilefold::test {
namespace {

float folded(const std::vector<float>& items) {
  return reference::fold<float>(reference::plus{}, items);
}

const std::vector<std::int64_t> sizes{1, 1000, 100003, 5000001};

// Results that no fold has written. Ends before it returns: a memset is done in the legacy stream,
// for which streams that do not block do not wait.
void clear(gpu_array<float>& out) {
  must(cudaMemset(out.data(), 0xee, static_cast<std::size_t>(out.size()) * sizeof(float)));
  must(cudaDeviceSynchronize());
}

TEST(CudaStandIns, GiveTheBitsOfTheExecutor) {
  const scoped_stream stream;
  for (const std::int64_t n : sizes) {
    const auto items = make_items<float>(pattern::mixed, n);
    const gpu_array<float> array(items);
    gpu_array<float> out(1);
    const float* const first = array.data();
    const float* const last = first + n;
    const float expected = folded(items);
    const auto check = [&](const auto& handle, const char* what) {
      for (int call = 0; call < 2; ++call) {
        EXPECT_TRUE(same_bits(tilefold::reduce(handle, first, last), expected)) << what << n;
        clear(out);
        reduce_into(handle, first, last, out.data());
        must(cudaDeviceSynchronize());
        EXPECT_TRUE(same_bits(out.to_host()[0], expected)) << what << n;
      }
    };
    check(static_cast<cudaStream_t>(stream), "cudaStream_t ");
    check(cudaStream_t{nullptr}, "the default stream ");
    check(cudaStreamPerThread, "cudaStreamPerThread ");
    check(cuda::stream_ref(stream), "cuda::stream_ref ");
    check(rmm_stream_view(stream), "rmm ");
    check(thrust::device, "thrust::device ");
    check(thrust::cuda::par.on(stream), "par.on ");
    check(thrust::cuda::par_nosync.on(stream), "par_nosync.on ");
    cuda_executor exec(cuda::stream_ref{stream});
    EXPECT_TRUE(same_bits(reduce(exec, first, last), expected)) << n;
    EXPECT_TRUE(same_bits(tilefold::reduce(thrust::host, items), expected)) << n;
    EXPECT_TRUE(same_bits(tilefold::reduce(std::execution::par, items), expected)) << n;
    EXPECT_TRUE(same_bits(tilefold::reduce(std::execution::seq, items), expected)) << n;
  }
}

struct quotient {
  TILEFOLD_HD float operator()(float item, double value) const {
    return static_cast<float>(static_cast<double>(item) / value);
  }
};

TEST(CudaStandIns, TakeRowsAndPieces) {
  const std::int64_t rows = 30, width = 1000;
  const auto items = make_items<float>(pattern::near_one, rows * width);
  const gpu_array<float> array(items);
  const float* const first = array.data();
  gpu_array<float> out(rows * width);
  std::vector<float> logarithms(items.size()), shares(items.size());
  log_softmax(host_executor(), items.data(), rows, width, logarithms.data());
  transform_rows(host_executor(), items.data(), rows, width, shares.data(), reducers::l1{},
                 quotient{});
  const auto expect = [&](const std::vector<float>& expected, const char* what) {
    const auto got = out.to_host();
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_TRUE(same_bits(got[i], expected[i])) << what << ", item " << i;
    }
  };
  const scoped_stream stream(cudaStreamNonBlocking);
  const auto check = [&](const auto& handle, const char* what) {
    log_softmax(handle, first, rows, width, out.data());
    expect(logarithms, what);
    transform_rows(handle, first, rows, width, out.data(), reducers::l1{}, quotient{});
    expect(shares, what);
    auto piece = tilefold::reduce_piece(handle, first, first + 777, 0, plus{});
    piece.append(handle, first + 777, first + rows * width);
    EXPECT_TRUE(same_bits(piece.value(), folded(items))) << what;
  };
  check(static_cast<cudaStream_t>(stream), "cudaStream_t");
  check(cudaStream_t{nullptr}, "the default stream");
  check(cuda::stream_ref(stream), "cuda::stream_ref");
  check(rmm_stream_view(stream), "rmm");
  check(thrust::device, "thrust::device");
  check(thrust::cuda::par.on(stream), "par.on");
}

TEST(CudaStandIns, KeepTheOrderOfTheirStream) {
  const scoped_stream stream(cudaStreamNonBlocking);
  const auto items = make_items<float>(pattern::mixed, 5000001);
  const gpu_array<float> array(items);
  gpu_array<float> out(2);
  delay<<<1, 1, 0, stream>>>(10 * a_millisecond);
  reduce_into(stream, array.begin(), array.end(), out.data());
  reduce_into(stream, out.begin(), out.begin() + 1, out.data() + 1);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  (void)cudaGetLastError();
  must(cudaStreamSynchronize(stream));
  EXPECT_TRUE(same_bits(out.to_host()[0], folded(items)));
  EXPECT_TRUE(same_bits(out.to_host()[1], folded(items)));
}

// Streams that are destroyed while their work goes on. The driver gives handles again, and memory
// that was handed on too early would mix their folds.
TEST(CudaStandIns, MayEndWhileTheirWorkGoesOn) {
  constexpr int rounds = 100;
  const auto items = make_items<float>(pattern::mixed, 5000001);
  const gpu_array<float> array(items);
  gpu_array<float> out(rounds);
  for (int i = 0; i < rounds; ++i) {
    cudaStream_t stream = nullptr;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    delay<<<1, 1, 0, stream>>>(a_millisecond / 2);
    reduce_into(stream, array.begin(), array.end(), out.data() + i);
    must(cudaStreamDestroy(stream));
  }
  must(cudaDeviceSynchronize());
  const auto sums = out.to_host();
  const float expected = folded(items);
  for (int i = 0; i < rounds; ++i) EXPECT_TRUE(same_bits(sums[i], expected)) << i;
  release_kept_memory();
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

// A graph has memory of its own: it outlives the stream and what the thread keeps, and runs beside
// calls of the same stream.
TEST(CudaStandIns, AreRecordedIntoGraphs) {
  const auto items = make_items<float>(pattern::mixed, 5000001);
  const gpu_array<float> array(items);
  const gpu_array<float> halves(items.size() / 2);
  gpu_array<float> out(2);
  gpu_array<float> rows(1000);
  cudaGraphExec_t graph = nullptr;
  {
    const scoped_stream stream(cudaStreamNonBlocking);
    reduce_into(stream, array.begin(), array.end(), out.data());
    cudaGraph_t recorded = nullptr;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    reduce_into(stream, array.begin(), array.end(), out.data());
    reduce_into(thrust::cuda::par.on(stream), array.begin(), array.end() - 1, out.data() + 1);
    segmented_reduce_into(stream, array.begin(), 1000, 5000, rows.data());
    EXPECT_THROW((void)tilefold::reduce(stream, array.begin(), array.end()), capture_error);
    must(cudaStreamEndCapture(stream, &recorded));
    must(cudaGraphInstantiate(&graph, recorded, 0));
    must(cudaGraphDestroy(recorded));
  }
  release_kept_memory();
  const float expected = folded(items);
  const float expected_but_one = folded({items.begin(), items.end() - 1});
  const scoped_stream other(cudaStreamNonBlocking);
  for (int replay = 0; replay < 3; ++replay) {
    clear(out);
    must(cudaGraphLaunch(graph, other));
    EXPECT_TRUE(same_bits(tilefold::reduce(thrust::device, array.begin(), array.end()), expected));
    must(cudaDeviceSynchronize());
    EXPECT_TRUE(same_bits(out.to_host()[0], expected)) << replay;
    EXPECT_TRUE(same_bits(out.to_host()[1], expected_but_one)) << replay;
    const auto sums = rows.to_host();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::vector<float> row(items.begin() + static_cast<std::ptrdiff_t>(5000 * i),
                                   items.begin() + static_cast<std::ptrdiff_t>(5000 * (i + 1)));
      ASSERT_TRUE(same_bits(sums[i], folded(row))) << i;
    }
  }
  must(cudaGraphExecDestroy(graph));
}

// How many nodes of a graph are no kernels.
int other_nodes(cudaGraph_t graph) {
  std::size_t count = 0;
  must(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  must(cudaGraphGetNodes(graph, nodes.data(), &count));
  int others = 0;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type;
    must(cudaGraphNodeGetType(node, &type));
    others += type != cudaGraphNodeTypeKernel;
  }
  return others;
}

// Each recorded call has memory of its own, which the graph keeps: branches and other graphs may
// run at the same time. Nothing but kernels is recorded.
TEST(CudaStandIns, HaveMemoryOfTheirOwnInGraphs) {
  constexpr int calls = 6;
  const auto items = make_items<float>(pattern::mixed, 5000001);
  const gpu_array<float> array(items);
  gpu_array<float> out(4 * calls);
  const scoped_stream stream(cudaStreamNonBlocking);
  const scoped_stream branch(cudaStreamNonBlocking);
  const auto range = [&](cudaStream_t where, int i) {
    reduce_into(where, array.begin() + i, array.end(), out.data() + i);
  };
  range(stream, 0);  // loads the kernel
  std::array<cudaGraphExec_t, 2> graphs{};
  for (int g = 0; g < 2; ++g) {
    cudaGraph_t recorded = nullptr;
    cudaEvent_t fork;
    cudaEvent_t join;
    must(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    must(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    must(cudaEventRecord(fork, stream));
    must(cudaStreamWaitEvent(branch, fork, 0));
    for (int i = 0; i < calls; ++i) {
      range(stream, 2 * (g * calls + i));
      range(branch, 2 * (g * calls + i) + 1);
    }
    must(cudaEventRecord(join, branch));
    must(cudaStreamWaitEvent(stream, join, 0));
    must(cudaStreamEndCapture(stream, &recorded));
    EXPECT_EQ(other_nodes(recorded), 0);
    must(cudaGraphInstantiate(&graphs[static_cast<std::size_t>(g)], recorded, 0));
    must(cudaGraphDestroy(recorded));
    must(cudaEventDestroy(fork));
    must(cudaEventDestroy(join));
  }
  std::vector<float> expected;
  for (int i = 0; i < 4 * calls; ++i) expected.push_back(folded({items.begin() + i, items.end()}));
  for (int replay = 0; replay < 20; ++replay) {
    must(cudaMemsetAsync(out.data(), 0xee, 4 * calls * sizeof(float), stream));
    must(cudaStreamSynchronize(stream));
    must(cudaGraphLaunch(graphs[0], stream));
    must(cudaGraphLaunch(graphs[1], branch));
    must(cudaDeviceSynchronize());
    const auto sums = out.to_host();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      ASSERT_TRUE(same_bits(sums[i], expected[i])) << i << " in replay " << replay;
    }
  }
  for (const cudaGraphExec_t graph : graphs) must(cudaGraphExecDestroy(graph));
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

// A graph that is gone hands its memory on, with its counters as they were.
TEST(CudaStandIns, TakeOverTheMemoryOfGraphs) {
  const auto items = make_items<float>(pattern::mixed, 5000001);
  const gpu_array<float> array(items);
  gpu_array<float> out(1);
  const float expected = folded(items);
  const scoped_stream stream(cudaStreamNonBlocking);
  for (int round = 0; round < 200; ++round) {
    cudaGraph_t recorded = nullptr;
    cudaGraphExec_t graph = nullptr;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    reduce_into(stream, array.begin(), array.end(), out.data());
    must(cudaStreamEndCapture(stream, &recorded));
    must(cudaGraphInstantiate(&graph, recorded, 0));
    must(cudaGraphDestroy(recorded));
    clear(out);
    must(cudaGraphLaunch(graph, stream));
    must(cudaStreamSynchronize(stream));
    must(cudaGraphExecDestroy(graph));
    ASSERT_TRUE(same_bits(out.to_host()[0], expected)) << round;
  }
}

// Two threads' per-thread streams have one handle, and may be branches of one capture.
TEST(CudaStandIns, RecordPerThreadStreamsOfTwoThreads) {
  const auto items = make_items<float>(pattern::mixed, 5000001);
  const gpu_array<float> array(items);
  gpu_array<float> out(2);
  reduce_into(cudaStreamPerThread, array.begin(), array.end(), out.data());  // loads the kernel
  must(cudaStreamSynchronize(cudaStreamPerThread));
  cudaEvent_t fork;
  cudaEvent_t join;
  must(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  must(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  cudaGraph_t recorded = nullptr;
  cudaGraphExec_t graph = nullptr;
  must(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeRelaxed));
  must(cudaEventRecord(fork, cudaStreamPerThread));
  reduce_into(cudaStreamPerThread, array.begin(), array.end(), out.data());
  std::thread([&] {
    must(cudaStreamWaitEvent(cudaStreamPerThread, fork, 0));
    reduce_into(cudaStreamPerThread, array.begin() + 1, array.end(), out.data() + 1);
    must(cudaEventRecord(join, cudaStreamPerThread));
  }).join();
  must(cudaStreamWaitEvent(cudaStreamPerThread, join, 0));
  must(cudaStreamEndCapture(cudaStreamPerThread, &recorded));
  must(cudaGraphInstantiate(&graph, recorded, 0));
  must(cudaGraphDestroy(recorded));
  const float expected = folded(items);
  const float expected_but_one = folded({items.begin() + 1, items.end()});
  for (int replay = 0; replay < 20; ++replay) {
    clear(out);
    must(cudaGraphLaunch(graph, cudaStreamPerThread));
    must(cudaStreamSynchronize(cudaStreamPerThread));
    ASSERT_TRUE(same_bits(out.to_host()[0], expected)) << replay;
    ASSERT_TRUE(same_bits(out.to_host()[1], expected_but_one)) << replay;
  }
  must(cudaGraphExecDestroy(graph));
  must(cudaEventDestroy(fork));
  must(cudaEventDestroy(join));
}

// A capture that is given up, and an executable that is destroyed while it runs.
TEST(CudaStandIns, SurviveGraphsThatEndEarly) {
  const auto items = make_items<float>(pattern::mixed, 5000001);
  const gpu_array<float> array(items);
  gpu_array<float> out(1);
  const float expected = folded(items);
  const scoped_stream stream(cudaStreamNonBlocking);
  for (int round = 0; round < 50; ++round) {
    cudaGraph_t recorded = nullptr;
    cudaGraphExec_t graph = nullptr;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    reduce_into(stream, array.begin(), array.end(), out.data());
    must(cudaStreamEndCapture(stream, &recorded));
    must(cudaGraphDestroy(recorded));  // never run

    clear(out);
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 4; ++i) reduce_into(stream, array.begin(), array.end(), out.data());
    must(cudaStreamEndCapture(stream, &recorded));
    must(cudaGraphInstantiate(&graph, recorded, 0));
    must(cudaGraphDestroy(recorded));
    must(cudaGraphLaunch(graph, stream));
    must(cudaGraphExecDestroy(graph));
    must(cudaStreamSynchronize(stream));
    ASSERT_TRUE(same_bits(out.to_host()[0], expected)) << round;
  }
  release_kept_memory();  // also what the graphs had
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

// Another thread's capture must live through all that a call asks and frees.
TEST(CudaStandIns, LeaveCapturesOfOthersAlone) {
  const auto items = make_items<float>(pattern::mixed, 5000001);
  const gpu_array<float> array(items);
  gpu_array<float> out(1);
  const scoped_stream captured(cudaStreamNonBlocking);
  {
    const scoped_stream warm(cudaStreamNonBlocking);  // loads the kernels
    (void)tilefold::reduce(warm, array.begin(), array.end());
  }
  std::vector<cudaStream_t> streams(20);
  for (cudaStream_t& stream : streams) {
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  must(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
  std::thread([&] {
    for (const cudaStream_t stream : streams) {
      reduce_into(stream, array.begin(), array.end(), out.data());
    }
  }).join();
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(captured, &graph));
  must(cudaGraphDestroy(graph));
  for (const cudaStream_t stream : streams) must(cudaStreamDestroy(stream));
  must(cudaDeviceSynchronize());
  EXPECT_TRUE(same_bits(out.to_host()[0], folded(items)));
}

TEST(CudaStandIns, ServeManyThreads) {
  const auto items = make_items<float>(pattern::mixed, 1000003);
  const gpu_array<float> array(items);
  const float expected = folded(items);
  const scoped_stream stream;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(same_bits(tilefold::reduce(stream, array.begin(), array.end()), expected));
        EXPECT_TRUE(
            same_bits(tilefold::reduce(thrust::device, array.begin(), array.end()), expected));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// ---- thrust's and CUB's call sites

struct negated {
  __host__ __device__ float operator()(float a) const { return -a; }
};

TEST(CudaStandIns, ThrustsCallsChangeTheirNamespace) {
  const auto items = make_items<float>(pattern::near_one, 100003);
  thrust::device_vector<float> x(items.begin(), items.end());
  EXPECT_TRUE(same_bits(thrust_compat::reduce(thrust::device, x.begin(), x.end()), folded(items)));
  EXPECT_TRUE(same_bits(
      thrust_compat::transform_reduce(thrust::device, x.begin(), x.end(), negated{}, 0.0f, plus{}),
      tilefold::transform_reduce(items.begin(), items.end(), 0.0f, plus{}, negated{})));
  std::vector<int> of_30001(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) of_30001[i] = static_cast<int>(i / 30001);
  const thrust::device_vector<int> keys(of_30001);
  thrust::device_vector<int> keys_out(4);
  thrust::device_vector<float> sums(4);
  const auto ends = thrust_compat::reduce_by_key(thrust::device, keys.begin(), keys.end(),
                                                 x.begin(), keys_out.begin(), sums.begin());
  EXPECT_EQ(ends.first - keys_out.begin(), 4);
  EXPECT_EQ(ends.second - sums.begin(), 4);
  EXPECT_TRUE(same_bits(static_cast<float>(sums[3]),
                        folded(std::vector<float>(items.begin() + 90003, items.end()))));
}

TEST(CudaStandIns, CubsCallsChangeTheirNamespace) {
  using cub_compat::DeviceReduce;
  const auto items = make_items<float>(pattern::near_one, 1000003);
  const gpu_array<float> array(items);
  gpu_array<float> out(1);
  gpu_array<std::int64_t> place(1);
  const auto n = static_cast<std::int64_t>(items.size());
  const scoped_stream stream;
  void* storage = nullptr;
  std::size_t bytes = 0;
  must(DeviceReduce::Sum(storage, bytes, array.data(), out.data(), n, stream));
  must(cudaMalloc(&storage, bytes));
  must(DeviceReduce::Sum(storage, bytes, array.data(), out.data(), n, stream));
  must(cudaStreamSynchronize(stream));
  EXPECT_TRUE(same_bits(out.to_host()[0], folded(items)));
  must(DeviceReduce::ArgMin(storage, bytes, array.data(), out.data(), place.data(), n, stream));
  must(cudaStreamSynchronize(stream));
  const auto least = min_element(items);
  EXPECT_TRUE(same_bits(out.to_host()[0], *least));
  EXPECT_EQ(place.to_host()[0], least - items.begin());
  must(cudaFree(storage));
  // In one phase, with a stream or what names one.
  must(DeviceReduce::Sum(array.data(), out.data(), n, static_cast<cudaStream_t>(stream)));
  must(cudaStreamSynchronize(stream));
  EXPECT_TRUE(same_bits(out.to_host()[0], folded(items)));
  must(DeviceReduce::ArgMin(array.data(), out.data(), place.data(), n, cuda::stream_ref(stream)));
  must(cudaStreamSynchronize(stream));
  EXPECT_TRUE(same_bits(out.to_host()[0], *least));
  EXPECT_EQ(place.to_host()[0], least - items.begin());
  must(DeviceReduce::Max(array.data(), out.data(), n));
  must(cudaDeviceSynchronize());
  EXPECT_TRUE(same_bits(out.to_host()[0], *max_element(items)));
}

// ---- workspace from resources of others

struct gpu_memory {
  static void* allocate(std::size_t n) {
    void* p = nullptr;
    must(cudaMalloc(&p, n));
    return p;
  }
  static void release(void* p) { (void)cudaFree(p); }
};

TEST(CudaStandIns, ResourcesOfOthersGiveWorkspace) {
  const auto items = make_items<float>(pattern::mixed, 5000001);
  const gpu_array<float> array(items);
  const scoped_stream stream;
  const float expected = folded(items);
  const auto check = [&](auto&& resource, const resource_calls& calls) {
    {
      cuda_executor exec(stream, resource);
      EXPECT_TRUE(same_bits(reduce(exec, array.begin(), array.end()), expected));
      EXPECT_TRUE(same_bits(reduce(exec, array.begin(), array.end()), expected));
    }
    EXPECT_EQ(calls.allocated, 1);
    EXPECT_EQ(calls.freed, 1);
  };
  resource_calls calls[4];
  check(resource_in_stream<gpu_memory>{&calls[0]}, calls[0]);
  check(resource_async<gpu_memory>{&calls[1]}, calls[1]);
  resource_of_rmm<gpu_memory> rmm(&calls[2]);
  check(rmm, calls[2]);
  check(resource_plain<gpu_memory>{&calls[3]}, calls[3]);
}

}  // namespace
}  // namespace tilefold::test
