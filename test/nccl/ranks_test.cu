// SPDX-License-Identifier: Apache-2.0
//
// Ranks that NCCL joins, one thread and one GPU each: as many as there are GPUs, at most four. The
// bits are those of one call.
#include <tilefold/nccl.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>

#include "../support/device.cuh"
#include "../support/oracle.hpp"

namespace {

namespace r = tilefold::reducers;
using tilefold::test::must;

// Calls body(comm) on a thread for each GPU.
template <class Body>
void on_gpus(const Body& body) {
  int gpus = 0;
  must(cudaGetDeviceCount(&gpus));
  gpus = std::min(gpus, 4);
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(gpus));
  ASSERT_EQ(ncclCommInitAll(comms.data(), gpus, nullptr), ncclSuccess);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < gpus; ++rank) {
    threads.emplace_back([&, rank] {
      must(cudaSetDevice(rank));
      tilefold::nccl_communicator comm(comms[static_cast<std::size_t>(rank)]);
      body(comm);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NcclRanks, TheBitsOfOneCall) {
  constexpr std::int64_t n = 300000;
  std::vector<float> x(n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(static_cast<float>(i * 7919 % 1009) - 504.0f, static_cast<int>(i % 24));
  }
  const auto op = r::fuse(r::mean{}, r::arg_min{});
  const float sum = tilefold::reduce(tilefold::host_executor(), x);
  const auto fused = tilefold::reduce(tilefold::host_executor(), x, op);
  on_gpus([&](tilefold::nccl_communicator& comm) {
    EXPECT_EQ(comm.device(), comm.rank());
    tilefold::cuda_executor gpu;
    float* items = nullptr;
    must(cudaMalloc(&items, n * sizeof(float)));
    must(cudaMemcpy(items, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    const auto all = tilefold::ranks(comm, gpu);
    for (const std::int64_t first_cut : {std::int64_t{0}, std::int64_t{7}, n / 3, n}) {
      // The first rank has up to the cut, the second the rest.
      const std::int64_t begin = comm.rank() == 0 ? 0 : comm.rank() == 1 ? first_cut : n;
      const std::int64_t end = comm.rank() == 0 && comm.size() > 1 ? first_cut : n;
      const float got = tilefold::reduce(all, items + begin, items + end);
      EXPECT_EQ(0, std::memcmp(&got, &sum, sizeof got));
      const auto both = tilefold::reduce(all, items + begin, items + end, op);
      EXPECT_EQ(tilefold::get<0>(both), tilefold::get<0>(fused));
      EXPECT_EQ(tilefold::get<1>(both).index, tilefold::get<1>(fused).index);
    }
    must(cudaFree(items));
  });
}

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

// The first rank has `cut` items, the second the rest but one, which the last has.
tilefold::rank_lengths lengths_of(int ranks, std::int64_t n, std::int64_t cut) {
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
template <class T, class Op>
void expect_in_stream_order(tilefold::nccl_communicator& comm, tilefold::cuda_executor& gpu,
                            const std::vector<T>& x, const T* items, std::int64_t cut, Op op) {
  const auto n = static_cast<std::int64_t>(x.size());
  const auto lengths = lengths_of(comm.size(), n, cut);
  const T* const first = items + lengths.begin(comm.rank());
  const T* const last = first + lengths[comm.rank()];
  const auto all = tilefold::ranks(comm, gpu, lengths);
  const auto expected = tilefold::reduce(tilefold::host_executor(), x, op);
  using result = std::remove_const_t<decltype(expected)>;
  const device_items<result> out(std::vector<result>(1));

  tilefold::reduce_into(all, first, last, out.get(), op);
  EXPECT_EQ(fetched(gpu, out.get()), expected) << n << " cut at " << cut;
  comm.throw_errors();
  EXPECT_EQ(tilefold::reduce(all, first, last, op), expected) << n << " cut at " << cut;

  must(cudaMemset(out.get(), 0, sizeof(result)));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t calls = nullptr;
  must(cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal));
  tilefold::reduce_into(all, first, last, out.get(), op);
  must(cudaStreamEndCapture(gpu.stream(), &graph));
  must(cudaGraphInstantiate(&calls, graph, 0));
  for (int i = 0; i < 3; ++i) must(cudaGraphLaunch(calls, gpu.stream()));
  EXPECT_EQ(fetched(gpu, out.get()), expected) << n << " cut at " << cut << ", in a graph";
  must(cudaGraphExecDestroy(calls));
  must(cudaGraphDestroy(graph));
  comm.throw_errors();
}

TEST(NcclRanks, InStreamOrderAndInGraphs) {
  using tilefold::test::node_hash;
  using tilefold::test::tree_hash;
  for (const std::int64_t n : {1, 2, 1000, 300000}) {
    const auto leaves = tilefold::test::leaf_hashes(n);
    std::vector<float> x(static_cast<std::size_t>(n));
    std::vector<std::int64_t> integers(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::ldexp(static_cast<float>(i * 7919 % 1009) - 504.0f, static_cast<int>(i % 24));
      integers[i] = static_cast<std::int64_t>(i * 2654435761u);
    }
    on_gpus([&](tilefold::nccl_communicator& comm) {
      tilefold::cuda_executor gpu;
      gpu.reserve(1 << 20);
      const device_items<tree_hash> hashes(leaves);
      const device_items<float> floats(x);
      const device_items<std::int64_t> ints(integers);
      for (const std::int64_t cut : {std::int64_t{0}, std::int64_t{1}, n / 3, n - 1, n}) {
        const std::int64_t at = comm.size() == 1 ? n : cut;
        expect_in_stream_order(comm, gpu, leaves, hashes.get(), at, node_hash{});
        expect_in_stream_order(comm, gpu, x, floats.get(), at, tilefold::plus{});
        expect_in_stream_order(comm, gpu, x, floats.get(), at, r::variance{});
        expect_in_stream_order(comm, gpu, integers, ints.get(), at, tilefold::plus{});
        expect_in_stream_order(comm, gpu, x, floats.get(), at, tilefold::maximum{});
      }
    });
  }
}

TEST(NcclRanks, IndicesInStreamOrderCountInTheWhole) {
  std::vector<float> x(5000, 2.0f);
  x[4321] = 1.0f;
  on_gpus([&](tilefold::nccl_communicator& comm) {
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

TEST(NcclRanks, NothingAtAllInStreamOrder) {
  on_gpus([&](tilefold::nccl_communicator& comm) {
    tilefold::cuda_executor gpu;
    const device_items<float> items(std::vector<float>(1, 5.0f));
    const auto lengths = lengths_of(comm.size(), 0, 0);
    const auto all = tilefold::ranks(comm, gpu, lengths);
    EXPECT_EQ(tilefold::reduce(all, items.get(), items.get()), 0.0f);
    EXPECT_EQ(tilefold::reduce(all, items.get(), items.get(), 3.0f), 3.0f);
    EXPECT_THROW((void)tilefold::reduce(all, items.get(), items.get(), r::min{}),
                 tilefold::empty_range_error);
    tilefold::reduce_into(all, items.get(), items.get(), items.get());
    EXPECT_EQ(fetched(gpu, items.get()), 0.0f);
  });
}

TEST(NcclRanks, WhatGoesWrongInStreamOrderIsToldToAll) {
  on_gpus([&](tilefold::nccl_communicator& comm) {
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

TEST(NcclRanks, OtherCallsAreFoundOutByAll) {
  on_gpus([&](tilefold::nccl_communicator& comm) {
    const tilefold::host_executor host(1);
    const std::vector<float> x(10, 1.0f);
    const auto all = tilefold::ranks(comm, host);
    if (comm.size() > 1) {
      EXPECT_THROW(
          {
            if (comm.rank() == 1) {
              (void)tilefold::reduce(all, x, tilefold::maximum{});
            } else {
              (void)tilefold::reduce(all, x);
            }
          },
          tilefold::rank_mismatch_error);
    }
    EXPECT_EQ(tilefold::reduce(all, x), 10.0f * static_cast<float>(comm.size()));
  });
}

}  // namespace
