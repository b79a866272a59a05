// SPDX-License-Identifier: Apache-2.0
//
// Streams that are destroyed while their work goes on. Where the last launch of such a stream
// begins early, the GPU may stand still for good (detail/cuda/base/launcher.cuh). The stream per
// thread has to have been used, and the launch before has to take a while, so that streams wait.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "conformance/conformance.hpp"
#include "support/delay.cuh"
#include "support/device.cuh"

namespace tilefold::test {
namespace {

constexpr int rounds = 100;
constexpr int lengths[] = {4, 1000};  // of segments

// Ends the whole program if work() takes half a minute: nothing else ends a wait for such a GPU.
template <class Work>
void watched(const Work& work) {
  std::promise<void> done;
  std::thread watch([ended = done.get_future()] {
    if (ended.wait_for(std::chrono::seconds(30)) == std::future_status::ready) return;
    std::fputs("the GPU stands still: a launch waits for one that has ended\n", stderr);
    std::_Exit(1);
  });
  try {
    work();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  done.set_value();
  watch.join();
}

// Calls work(stream, i) for streams that have something to do already, and destroys each some
// calls later.
template <class Work>
void in_ending_streams(const Work& work) {
  delay<<<1, 1, 0, cudaStreamPerThread>>>(0);
  must(cudaDeviceSynchronize());
  for (const std::size_t later : {0, 20}) {
    for (int again = 0; again < 3; ++again) {
      watched([&] {
        std::deque<cudaStream_t> streams;
        for (int i = 0; i < rounds; ++i) {
          cudaStream_t stream = nullptr;
          must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
          delay<<<1, 1, 0, stream>>>(a_millisecond / 2);
          work(stream, i);
          streams.push_back(stream);
          if (streams.size() > later) {
            must(cudaStreamDestroy(streams.front()));
            streams.pop_front();
          }
        }
        must(cudaDeviceSynchronize());
        for (const cudaStream_t stream : streams) must(cudaStreamDestroy(stream));
      });
    }
  }
}

class CudaEndedStreams : public testing::Test {
 protected:
  static constexpr std::int64_t n = 5000000;

  const std::vector<float> items = make_items<float>(pattern::mixed, n);
  const gpu_array<float> array{items};
  gpu_array<float> sums{rounds};
  gpu_array<float> rows{n / lengths[0]};

  // A graph of one call, or of three, of an executor or its stream.
  struct recorded {
    explicit recorded(const CudaEndedStreams& of, int i, bool names_stream, float* sum) {
      exec.reserve(cuda_executor::workspace_bytes(n, 4, 4));
      cudaGraph_t graph = nullptr;
      must(cudaStreamBeginCapture(exec.stream(), cudaStreamCaptureModeThreadLocal));
      if (names_stream) {
        calls(of, exec.stream(), i % 2 == 0, sum);
      } else {
        calls(of, exec, i % 2 == 0, sum);
      }
      must(cudaStreamEndCapture(exec.stream(), &graph));
      must(cudaGraphInstantiate(&run, graph, 0));
      must(cudaGraphDestroy(graph));
    }
    template <class Where>
    static void calls(const CudaEndedStreams& of, Where&& where, bool one, float* sum) {
      const auto fold_rows = [&] {
        segmented_reduce_into(where, of.array.begin(), n / lengths[0], lengths[0], of.rows.data());
      };
      if (!one) fold_rows();
      reduce_into(where, of.array.begin(), of.array.end(), sum);
      if (!one) fold_rows();
    }
    ~recorded() { (void)cudaGraphExecDestroy(run); }
    recorded(const recorded&) = delete;
    recorded& operator=(const recorded&) = delete;

    cuda_executor exec;
    cudaGraphExec_t run = nullptr;
  };

  // So that no result of another call is taken for this one's.
  void clear() {
    must(cudaMemset(sums.data(), 0xee, rounds * sizeof(float)));
    must(cudaMemset(rows.data(), 0xee, static_cast<std::size_t>(rows.size()) * sizeof(float)));
  }
  void SetUp() override { clear(); }

  void expect_sums() const {
    const float expected = reference::fold<float>(reference::plus{}, items);
    const auto found = sums.to_host();
    for (int i = 0; i < rounds; ++i) EXPECT_TRUE(same_bits(found[i], expected)) << i;
  }
  void expect_rows(int length) const {
    const auto found = rows.to_host();
    for (std::int64_t i = 0; i < n / length; ++i) {
      const std::vector<float> row(items.begin() + i * length, items.begin() + (i + 1) * length);
      ASSERT_TRUE(same_bits(found[i], reference::fold<float>(reference::plus{}, row))) << i;
    }
  }
};

TEST_F(CudaEndedStreams, OfCallsThatNameThem) {
  in_ending_streams([&](cudaStream_t stream, int i) {
    reduce_into(stream, array.begin(), array.end(), sums.data() + i);
  });
  expect_sums();
  for (const int length : lengths) {
    in_ending_streams([&](cudaStream_t stream, int) {
      segmented_reduce_into(stream, array.begin(), n / length, length, rows.data());
    });
    expect_rows(length);
  }
  release_kept_memory();
}

TEST_F(CudaEndedStreams, OfExecutorsThatEndBefore) {
  in_ending_streams([&](cudaStream_t stream, int i) {
    cuda_executor exec(stream);
    reduce_into(exec, array.begin(), array.end(), sums.data() + i);
  });
  expect_sums();
  for (const int length : lengths) {
    in_ending_streams([&](cudaStream_t stream, int) {
      cuda_executor exec(stream);
      segmented_reduce_into(exec, array.begin(), n / length, length, rows.data());
    });
    expect_rows(length);
  }
}

TEST_F(CudaEndedStreams, OfExecutorsThemselves) {
  for (const int length : lengths) {
    in_ending_streams([&](cudaStream_t, int) {
      cuda_executor exec;
      delay<<<1, 1, 0, exec.stream()>>>(a_millisecond / 2);
      segmented_reduce_into(exec, array.begin(), n / length, length, rows.data());
    });
    expect_rows(length);
  }
}

TEST_F(CudaEndedStreams, OfThreadsThatEnd) {
  watched([&] {
    for (int i = 0; i < rounds; ++i) {
      std::thread([&] {
        delay<<<1, 1, 0, cudaStreamPerThread>>>(a_millisecond / 2);
        reduce_into(cudaStreamPerThread, array.begin(), array.end(), sums.data() + i);
      }).join();
    }
    must(cudaDeviceSynchronize());
  });
  expect_sums();
}

TEST_F(CudaEndedStreams, OfGraphs) {
  for (const bool names_stream : {false, true}) {
    clear();
    std::vector<std::unique_ptr<recorded>> graphs;
    for (int i = 0; i < rounds; ++i) {
      graphs.push_back(std::make_unique<recorded>(*this, i, names_stream, sums.data() + i));
    }
    in_ending_streams(
        [&](cudaStream_t stream, int i) { must(cudaGraphLaunch(graphs[i]->run, stream)); });
    expect_sums();
    expect_rows(lengths[0]);
  }
}

// The fault, without this library. A driver that has it does not come back.
__global__ void __launch_bounds__(1024) waits() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

TEST_F(CudaEndedStreams, DISABLED_OfAnyLaunchThatBeginsEarly) {
  int blocks = 0;
  must(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0));
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(2 * static_cast<unsigned>(blocks));
  config.blockDim = dim3(1024);
  config.attrs = &early;
  config.numAttrs = 1;
  for (int again = 0; again < 20; ++again) {
    in_ending_streams([&](cudaStream_t stream, int) {
      config.stream = stream;
      must(cudaLaunchKernelEx(&config, waits));
    });
  }
}

}  // namespace
}  // namespace tilefold::test
