// SPDX-License-Identifier: Apache-2.0
//
// What is asked of ranks whose communicator works in stream order, whichever that is. on_gpus(body)
// calls body(communicator) on a thread for each GPU.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/moments.hpp>

#include "device.cuh"
#include "oracle.hpp"

namespace tilefold::test {

namespace r = tilefold::reducers;

// The bytes of a value in memory of the GPU, when the stream is done.
template <class T>
T fetched(tilefold::cuda_executor& gpu, const T* on_gpu) {
  gpu.synchronize();
  T value;
  must(cudaMemcpy(&value, on_gpu, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

template <class T>
class device_items {
 public:
  explicit device_items(const std::vector<T>& items) {
    must(cudaMalloc(&items_, (items.size() + 1) * sizeof(T)));
    must(cudaMemcpy(items_, items.data(), items.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  device_items(const device_items&) = delete;
  ~device_items() { must(cudaFree(items_)); }
  T* get() const { return items_; }

 private:
  T* items_ = nullptr;
};

// Statistics of one item are NaNs.
template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// The first rank has `cut` items, the second the rest but one, which the last has.
inline tilefold::rank_lengths lengths_of(int ranks, std::int64_t n, std::int64_t cut) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(ranks), 0);
  lengths[0] = cut;
  lengths.back() += n - cut;
  if (ranks > 2 && n > cut) {
    lengths[1] = n - cut - 1;
    lengths.back() = 1;
  }
  return tilefold::rank_lengths(lengths);
}

// One call of all ranks in stream order, its value too, and the same in a graph.
template <class Comm, class T, class Op>
void expect_in_stream_order(Comm& comm, tilefold::cuda_executor& gpu, const std::vector<T>& x,
                            const T* items, std::int64_t cut, Op op) {
  const auto n = static_cast<std::int64_t>(x.size());
  const auto lengths = lengths_of(comm.size(), n, cut);
  const T* const first = items + lengths.begin(comm.rank());
  const T* const last = first + lengths[comm.rank()];
  const auto all = tilefold::ranks(comm, gpu, lengths);
  const auto expected = tilefold::reduce(tilefold::host_executor(), x, op);
  using result = std::remove_const_t<decltype(expected)>;
  const device_items<result> out(std::vector<result>(1));

  tilefold::reduce_into(all, first, last, out.get(), op);
  EXPECT_TRUE(same_bits(fetched(gpu, out.get()), expected)) << n << " cut at " << cut;
  comm.throw_errors();
  EXPECT_TRUE(same_bits(tilefold::reduce(all, first, last, op), expected))
      << n << " cut at " << cut;

  must(cudaMemset(out.get(), 0, sizeof(result)));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t calls = nullptr;
  must(cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal));
  tilefold::reduce_into(all, first, last, out.get(), op);
  must(cudaStreamEndCapture(gpu.stream(), &graph));
  must(cudaGraphInstantiate(&calls, graph, 0));
  for (int i = 0; i < 3; ++i) must(cudaGraphLaunch(calls, gpu.stream()));
  EXPECT_TRUE(same_bits(fetched(gpu, out.get()), expected)) << n << " cut at " << cut << ", graph";
  must(cudaGraphExecDestroy(calls));
  must(cudaGraphDestroy(graph));
  comm.throw_errors();
}

template <class OnGpus>
void expect_stream_order_and_graphs(const OnGpus& on_gpus) {
  for (const std::int64_t n : {1, 2, 1000, 300000}) {
    const auto leaves = leaf_hashes(n);
    std::vector<float> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::ldexp(static_cast<float>(i * 7919 % 1009) - 504.0f, static_cast<int>(i % 24));
    }
    on_gpus([&](auto& comm) {
      tilefold::cuda_executor gpu;
      gpu.reserve(1 << 20);
      const device_items<tree_hash> hashes(leaves);
      const device_items<float> floats(x);
      for (const std::int64_t cut : {std::int64_t{0}, std::int64_t{1}, n / 3, n - 1, n}) {
        const std::int64_t at = comm.size() == 1 ? n : cut;
        expect_in_stream_order(comm, gpu, leaves, hashes.get(), at, node_hash{});
        expect_in_stream_order(comm, gpu, x, floats.get(), at, tilefold::plus{});
        expect_in_stream_order(comm, gpu, x, floats.get(), at, r::variance{});
      }
    });
  }
}

template <class OnGpus>
void expect_indices_in_the_whole(const OnGpus& on_gpus) {
  std::vector<float> x(5000, 2.0f);
  x[4321] = 1.0f;
  on_gpus([&](auto& comm) {
    tilefold::cuda_executor gpu;
    const device_items<float> items(x);
    const auto lengths = lengths_of(comm.size(), 5000, comm.size() == 1 ? 5000 : 1234);
    const float* const first = items.get() + lengths.begin(comm.rank());
    const auto found = tilefold::reduce(tilefold::ranks(comm, gpu, lengths), first,
                                        first + lengths[comm.rank()], r::arg_min{});
    EXPECT_EQ(found.index, 4321);
    EXPECT_EQ(found.value, 1.0f);
  });
}

template <class OnGpus>
void expect_nothing_at_all(const OnGpus& on_gpus) {
  on_gpus([&](auto& comm) {
    tilefold::cuda_executor gpu;
    const device_items<float> items(std::vector<float>(1, 5.0f));
    const auto lengths = lengths_of(comm.size(), 0, 0);
    // What ranks() returns keeps the lengths.
    const auto all = tilefold::ranks(comm, gpu, tilefold::rank_lengths(lengths));
    EXPECT_EQ(tilefold::reduce(all, items.get(), items.get()), 0.0f);
    EXPECT_EQ(tilefold::reduce(all, items.get(), items.get(), 3.0f), 3.0f);
    EXPECT_THROW((void)tilefold::reduce(all, items.get(), items.get(), r::mean{}),
                 tilefold::empty_range_error);
    tilefold::reduce_into(all, items.get(), items.get(), items.get());
    EXPECT_EQ(fetched(gpu, items.get()), 0.0f);
  });
}

template <class OnGpus>
void expect_errors_are_told(const OnGpus& on_gpus) {
  on_gpus([&](auto& comm) {
    if (comm.size() == 1) return;
    tilefold::cuda_executor gpu;
    const device_items<float> items(std::vector<float>(100, 1.0f));
    const device_items<float> out(std::vector<float>(1, 5.0f));
    const float* const first = items.get();
    const tilefold::rank_lengths lengths(
        std::vector<std::int64_t>(static_cast<std::size_t>(comm.size()), 100));
    const auto all = tilefold::ranks(comm, gpu, lengths);
    const bool odd_one = comm.rank() == 1;

    // Another operator.
    if (odd_one) {
      tilefold::reduce_into(all, first, first + 100, out.get(), tilefold::maximum{});
    } else {
      tilefold::reduce_into(all, first, first + 100, out.get());
    }
    EXPECT_EQ(fetched(gpu, out.get()), 5.0f);
    // A call that waits throws what is wrong with itself alone.
    EXPECT_EQ(tilefold::reduce(all, first, first + 100), 100.0f * static_cast<float>(comm.size()));
    EXPECT_THROW(comm.throw_errors(), tilefold::rank_mismatch_error);
    comm.throw_errors();  // told once

    // Other lengths.
    std::vector<std::int64_t> others(static_cast<std::size_t>(comm.size()), 100);
    if (odd_one) others[0] = 99;
    const tilefold::rank_lengths disagreed(others);
    EXPECT_THROW((void)tilefold::reduce(tilefold::ranks(comm, gpu, disagreed), first, first + 100),
                 tilefold::rank_mismatch_error);

    // Items that cannot be read, or are not as many as was said.
    if (odd_one) {
      const float* const none = nullptr;
      EXPECT_THROW((void)tilefold::reduce(all, none, none + 100), tilefold::null_pointer_error);
      EXPECT_THROW((void)tilefold::reduce(all, first, first + 99), tilefold::invalid_range_error);
    } else {
      for (int i = 0; i < 2; ++i) {
        try {
          (void)tilefold::reduce(all, first, first + 100);
          ADD_FAILURE() << "rank 1 has failed, but nobody told";
        } catch (const tilefold::rank_error& error) {
          EXPECT_EQ(error.rank(), 1);
        }
      }
    }
    EXPECT_EQ(tilefold::reduce(all, first, first + 100), 100.0f * static_cast<float>(comm.size()));
  });
}

// A rank whose result has no place: it throws, and the others do not wait for it.
template <class OnGpus>
void expect_a_bad_out_is_told(const OnGpus& on_gpus) {
  on_gpus([&](auto& comm) {
    tilefold::cuda_executor gpu;
    const device_items<float> items(std::vector<float>(100, 1.0f));
    const device_items<float> out(std::vector<float>(1, 5.0f));
    const float* const first = items.get();
    const tilefold::rank_lengths lengths(
        std::vector<std::int64_t>(static_cast<std::size_t>(comm.size()), 100));
    const auto all = tilefold::ranks(comm, gpu, lengths);
    const int odd_one = comm.size() - 1;
    if (comm.rank() == odd_one) {
      float* const none = nullptr;
      EXPECT_THROW(tilefold::reduce_into(all, first, first + 100, none),
                   tilefold::null_pointer_error);
      gpu.synchronize();
    } else {
      tilefold::reduce_into(all, first, first + 100, out.get());
      EXPECT_EQ(fetched(gpu, out.get()), 5.0f);
      try {
        comm.throw_errors();
        ADD_FAILURE() << "rank " << odd_one << " has failed, but nobody told";
      } catch (const tilefold::rank_error& error) {
        EXPECT_EQ(error.rank(), odd_one);
      }
    }
    EXPECT_EQ(tilefold::reduce(all, first, first + 100), 100.0f * static_cast<float>(comm.size()));
  });
}

// Rank 0 has an executor of the next GPU, if there is one.
template <class OnGpus>
void expect_an_executor_of_another_gpu_is_told(const OnGpus& on_gpus) {
  on_gpus([&](auto& comm) {
    const device_items<float> items(std::vector<float>(100, 1.0f));
    const float* const first = items.get();
    const tilefold::rank_lengths lengths(
        std::vector<std::int64_t>(static_cast<std::size_t>(comm.size()), 100));
    tilefold::cuda_executor own;
    // It goes last: an executor that is destroyed gives memory back, for which CUDA waits for its
    // GPU, and there rank 1 may already wait for this rank's next call.
    std::optional<tilefold::cuda_executor> others;
    if (comm.size() > 1 && comm.rank() == 0) {
      must(cudaSetDevice(1));
      others.emplace();
      must(cudaSetDevice(0));
      EXPECT_THROW(
          (void)tilefold::reduce(tilefold::ranks(comm, *others, lengths), first, first + 100),
          tilefold::invalid_range_error);
    } else if (comm.size() > 1) {
      // Rank 0 would be in its next call by now, with this one's gather under way in another
      // stream.
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      try {
        (void)tilefold::reduce(tilefold::ranks(comm, own, lengths), first, first + 100);
        ADD_FAILURE() << "rank 0 has failed, but nobody told";
      } catch (const tilefold::rank_error& error) {
        EXPECT_EQ(error.rank(), 0);
      }
    }
    EXPECT_EQ(comm.device(), own.device());
    EXPECT_EQ(tilefold::reduce(tilefold::ranks(comm, own, lengths), first, first + 100),
              100.0f * static_cast<float>(comm.size()));
  });
}

// Room of an odd size; and graphs go on with the memory that they were captured with.
template <class OnGpus>
void expect_room_can_grow(const OnGpus& on_gpus) {
  std::vector<float> x(3000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(static_cast<float>(i * 7919 % 1009) - 504.0f, static_cast<int>(i % 24));
  }
  const float expected = tilefold::reduce(tilefold::host_executor(), x);
  on_gpus([&](auto& comm) {
    tilefold::cuda_executor gpu;
    gpu.reserve(1 << 20);
    const device_items<float> items(x);
    const device_items<float> out(std::vector<float>(1, 0.0f));
    const auto lengths = lengths_of(comm.size(), 3000, comm.size() == 1 ? 3000 : 1234);
    const float* const first = items.get() + lengths.begin(comm.rank());
    const float* const last = first + lengths[comm.rank()];
    const auto all = tilefold::ranks(comm, gpu, lengths);
    EXPECT_EQ(tilefold::reduce(all, first, last), expected);  // loads the kernels
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t call = nullptr;
    must(cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal));
    tilefold::reduce_into(all, first, last, out.get());
    must(cudaStreamEndCapture(gpu.stream(), &graph));
    must(cudaGraphInstantiate(&call, graph, 0));

    comm.reserve(5001);
    // Would have the memory that the graph uses, had it been given back.
    const std::vector<int> sevens(4096 / sizeof(int) * (static_cast<std::size_t>(comm.size()) + 1),
                                  7);
    const device_items<int> others(sevens);
    must(cudaGraphLaunch(call, gpu.stream()));
    EXPECT_EQ(fetched(gpu, out.get()), expected);
    std::vector<int> found(sevens.size());
    must(
        cudaMemcpy(found.data(), others.get(), found.size() * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT_EQ(found, sevens);
    EXPECT_EQ(tilefold::reduce(all, first, last), expected);
    comm.throw_errors();
    must(cudaGraphExecDestroy(call));
    must(cudaGraphDestroy(graph));
  });
}

}  // namespace tilefold::test
