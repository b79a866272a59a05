// SPDX-License-Identifier: Apache-2.0
//
// Ranks that NCCL joins, one thread and one GPU each: as many as there are GPUs. The bits are those
// of one call.
#include <tilefold/nccl.cuh>

#include <barrier>
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
#include "../support/gpu_lists.hpp"
#include "../support/stream_ranks.cuh"
#include "nccl.cuh"

namespace {

namespace r = tilefold::reducers;
using tilefold::test::must;
using tilefold::test::on_nccl;

// Calls with accumulators of up to 32 bytes meet, whatever the lengths: the most blocks of a part
// are 126. (A sum of 17 floats a rank, and statistics of 2^40.)
constexpr std::int64_t bytes_sent(std::int64_t blocks, std::int64_t accumulator_bytes) {
  return tilefold::detail::cuda::rank_message_bytes<tilefold::nccl_communicator>(blocks,
                                                                                 accumulator_bytes);
}
static_assert(bytes_sent(2, 4) == bytes_sent(79, 24));
static_assert(bytes_sent(1, 1) == bytes_sent(126, 32));
static_assert(bytes_sent(126, 33) > bytes_sent(126, 32));

constexpr auto on_all = [](const auto& body) { on_nccl(tilefold::test::all_gpus(), body); };

TEST(NcclRanks, TheBitsOfOneCall) {
  constexpr std::int64_t n = 300000;
  std::vector<float> x(n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(static_cast<float>(i * 7919 % 1009) - 504.0f, static_cast<int>(i % 24));
  }
  const auto op = r::fuse(r::mean{}, r::arg_min{});
  const float sum = tilefold::reduce(tilefold::host_executor(), x);
  const auto fused = tilefold::reduce(tilefold::host_executor(), x, op);
  on_all([&](tilefold::nccl_communicator& comm) {
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

// A communicator that does not block says of its calls that they are in progress.
TEST(NcclRanks, ACommunicatorThatDoesNotBlock) {
  const int gpus = tilefold::test::num_gpus();
  // A rank that aborts gives back memory that others may still read.
  std::barrier all_are_done(gpus);
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < gpus; ++rank) {
    threads.emplace_back([&, rank] {
      must(cudaSetDevice(rank));
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.blocking = 0;
      ncclComm_t raw = nullptr;
      const ncclResult_t made = ncclCommInitRankConfig(&raw, gpus, id, rank, &config);
      EXPECT_TRUE(made == ncclSuccess || made == ncclInProgress);
      tilefold::cuda_executor gpu;
      tilefold::nccl_communicator comm(raw);
      const tilefold::test::device_items<float> items(std::vector<float>(100, 1.0f));
      const auto lengths = tilefold::rank_lengths::of(comm, 100);
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(
            tilefold::reduce(tilefold::ranks(comm, gpu, lengths), items.get(), items.get() + 100),
            100.0f * static_cast<float>(comm.size()));
      }
      all_are_done.arrive_and_wait();
      comm.abort();
      EXPECT_THROW(comm.throw_errors(), tilefold::communicator_error);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(NcclRanks, OtherCallsAreFoundOutByAll) {
  on_all([&](tilefold::nccl_communicator& comm) {
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
