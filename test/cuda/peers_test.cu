// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are GPUs of one process and write each other's memory, as many as there are GPUs: what
// they alone can do. (stream_ranks_test.cu tests what NCCL's ranks can do, too.)
#include <tilefold/peers.cuh>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../support/gpu_lists.hpp"
#include "../support/stream_ranks.cuh"
#include "peers.cuh"

namespace {

using tilefold::test::all_gpus;
using tilefold::test::must;
using tilefold::test::on_peers;
constexpr auto on_all = [](const auto& body) { on_peers(all_gpus(), body); };

// Many gathers in a row, of which no rank waits for any: messages must not meet those of the turn
// before.
TEST(PeerRanks, TurnsDoNotMeet) {
  on_all([](tilefold::peer_communicator& comm) {
    constexpr int turns = 2000;
    tilefold::cuda_executor gpu;
    std::vector<std::int64_t> values;
    for (int i = 0; i < turns; ++i) values.push_back(1000003 * i + comm.rank());
    const tilefold::test::device_items<std::int64_t> items(values);
    const tilefold::test::device_items<std::int64_t> out(values);
    const tilefold::rank_lengths lengths(
        std::vector<std::int64_t>(static_cast<std::size_t>(comm.size()), 1));
    const auto all = tilefold::ranks(comm, gpu, lengths);
    for (int i = 0; i < turns; ++i) {
      tilefold::reduce_into(all, items.get() + i, items.get() + i + 1, out.get() + i);
    }
    gpu.synchronize();
    comm.throw_errors();
    std::vector<std::int64_t> got(turns);
    must(cudaMemcpy(got.data(), out.get(), turns * sizeof(std::int64_t), cudaMemcpyDeviceToHost));
    const std::int64_t ranks = comm.size();
    for (int i = 0; i < turns; ++i) {
      ASSERT_EQ(got[static_cast<std::size_t>(i)], 1000003 * ranks * i + ranks * (ranks - 1) / 2)
          << "turn " << i;
    }
  });
}

// Items on the GPUs without lengths go by the host.
TEST(PeerRanks, LengthsThatAreNotGiven) {
  on_all([](tilefold::peer_communicator& comm) {
    tilefold::cuda_executor gpu;
    const tilefold::test::device_items<float> items(std::vector<float>(100, 1.0f));
    EXPECT_EQ(tilefold::reduce(tilefold::ranks(comm, gpu), items.get(), items.get() + 100),
              100.0f * static_cast<float>(comm.size()));
  });
}

// A rank that waits on its GPU and one that waits in its thread cannot meet, whoever comes first.
TEST(PeerRanks, CallsWithAndWithoutLengthsEnd) {
  const auto ranks = static_cast<int>(all_gpus().size());
  if (ranks == 1) GTEST_SKIP() << "there is nobody to wait for";
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> mismatches{0};
    std::atomic<int> others{0};
    on_all([&](tilefold::peer_communicator& comm) {
      tilefold::cuda_executor gpu;
      const tilefold::test::device_items<float> items(std::vector<float>(10, 1.0f));
      const tilefold::rank_lengths lengths(
          std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 10));
      const bool has_lengths = comm.rank() == 0;
      if (has_lengths == (round % 2 == 0)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(round));
      }
      try {
        if (has_lengths) {
          (void)tilefold::reduce(tilefold::ranks(comm, gpu, lengths), items.get(),
                                 items.get() + 10);
        } else {
          (void)tilefold::reduce(tilefold::ranks(comm, gpu), items.get(), items.get() + 10);
        }
      } catch (const tilefold::rank_mismatch_error&) {
        ++mismatches;
      } catch (const tilefold::communicator_error&) {
        ++others;
      }
    });
    EXPECT_GE(mismatches, 1) << "round " << round;
    EXPECT_EQ(mismatches + others, ranks) << "round " << round;
  }
}

// A call that is recorded once meets as many as it is run; calls by the hosts go on after them.
TEST(PeerRanks, GraphsMeetCallsThatAreMadeOneByOne) {
  on_all([](tilefold::peer_communicator& comm) {
    tilefold::cuda_executor gpu;
    gpu.reserve(1 << 20);
    const auto ranks = static_cast<std::size_t>(comm.size());
    const tilefold::test::device_items<float> items(std::vector<float>(10, 1.0f));
    const tilefold::test::device_items<float> out(std::vector<float>(3, 0.0f));
    const tilefold::rank_lengths lengths(std::vector<std::int64_t>(ranks, 10));
    const auto all = tilefold::ranks(comm, gpu, lengths);
    if (comm.rank() == 0) {
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t runs = nullptr;
      must(cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal));
      tilefold::reduce_into(all, items.get(), items.get() + 10, out.get());
      must(cudaStreamEndCapture(gpu.stream(), &graph));
      must(cudaGraphInstantiate(&runs, graph, 0));
      for (int i = 0; i < 3; ++i) must(cudaGraphLaunch(runs, gpu.stream()));
      gpu.synchronize();
      must(cudaGraphExecDestroy(runs));
      must(cudaGraphDestroy(graph));
    } else {
      for (int i = 0; i < 3; ++i) {
        tilefold::reduce_into(all, items.get(), items.get() + 10, out.get() + i);
      }
      gpu.synchronize();
    }
    comm.throw_errors();
    EXPECT_EQ(tilefold::test::fetched(gpu, out.get()), 10.0f * static_cast<float>(ranks));
    EXPECT_EQ(tilefold::rank_lengths::of(comm, 7).total(), 7 * comm.size());
  });
}

// With one GPU there is nobody to wait for.
TEST(PeerRanks, ARankThatLeavesIsTold) {
  const auto devices = all_gpus();
  auto comms = tilefold::peer_communicator::make(devices);
  must(cudaSetDevice(0));
  tilefold::cuda_executor gpu;
  const tilefold::test::device_items<float> items(std::vector<float>(10, 1.0f));
  const tilefold::rank_lengths lengths(std::vector<std::int64_t>(devices.size(), 10));
  const auto all = tilefold::ranks(comms[0], gpu, lengths);
  tilefold::reduce_into(all, items.get(), items.get() + 10, items.get());
  while (comms.size() > 1) comms.pop_back();  // while rank 0's GPU waits for their messages
  if (devices.size() == 1) {
    EXPECT_EQ(tilefold::test::fetched(gpu, items.get()), 10.0f);
    comms[0].throw_errors();
    return;
  }
  EXPECT_EQ(tilefold::test::fetched(gpu, items.get()), 1.0f);
  EXPECT_THROW(comms[0].throw_errors(), tilefold::communicator_error);
  EXPECT_THROW((void)tilefold::reduce(all, items.get(), items.get() + 10),
               tilefold::communicator_error);
}

// Parts of one block each, of an operator that does not commute.
TEST(PeerRanks, PartsOfOneBlock) {
  for (const std::int64_t block : {1, 1024, 65536}) {
    const auto ranks = static_cast<std::int64_t>(all_gpus().size());
    const auto leaves = tilefold::test::leaf_hashes(block * ranks);
    const auto expected =
        tilefold::reduce(tilefold::host_executor(), leaves, tilefold::test::node_hash{});
    on_all([&](tilefold::peer_communicator& comm) {
      tilefold::cuda_executor gpu;
      gpu.reserve(1 << 20);
      const tilefold::test::device_items<tilefold::test::tree_hash> items(leaves);
      const tilefold::rank_lengths lengths(
          std::vector<std::int64_t>(static_cast<std::size_t>(comm.size()), block));
      const auto all = tilefold::ranks(comm, gpu, lengths);
      const auto* const first = items.get() + lengths.begin(comm.rank());
      for (int round = 0; round < 100; ++round) {
        ASSERT_EQ(tilefold::reduce(all, first, first + block, tilefold::test::node_hash{}),
                  expected)
            << block << ", round " << round;
      }
    });
  }
}

TEST(PeerRanks, CallsOfOneBlockAndOfManyMeet) {
  on_all([](tilefold::peer_communicator& comm) {
    if (comm.size() == 1) return;
    tilefold::cuda_executor gpu;
    const tilefold::test::device_items<float> items(std::vector<float>(100, 1.0f));
    const float* const first = items.get();
    const auto ranks = static_cast<std::size_t>(comm.size());
    std::vector<std::int64_t> last_has_all(ranks, 0);
    last_has_all.back() = 100;
    const tilefold::rank_lengths lengths(last_has_all);
    const std::int64_t own = lengths[comm.rank()];
    const auto all = tilefold::ranks(comm, gpu, lengths);
    for (int round = 0; round < 50; ++round) {
      // One block, on one rank alone.
      EXPECT_EQ(tilefold::reduce(all, first, first + own, tilefold::maximum{}), 1.0f);
      // Several.
      EXPECT_EQ(tilefold::reduce(all, first, first + own), 100.0f);
      const auto odd = [&] {
        if (comm.rank() == 1) {
          (void)tilefold::reduce(all, first, first + own);
        } else {
          (void)tilefold::reduce(all, first, first + own, tilefold::maximum{});
        }
      };
      EXPECT_THROW(odd(), tilefold::rank_mismatch_error);
    }
  });
}

// One thread destroys them in their order, each with a call under way.
TEST(PeerRanks, DestroyedInAnyOrderWithCallsUnderWay) {
  const auto devices = all_gpus();
  for (const bool forwards : {true, false}) {
    std::vector<std::unique_ptr<tilefold::peer_communicator>> comms;
    for (auto& comm : tilefold::peer_communicator::make(devices)) {
      comms.push_back(std::make_unique<tilefold::peer_communicator>(std::move(comm)));
    }
    must(cudaSetDevice(0));
    tilefold::cuda_executor gpu;
    const tilefold::test::device_items<float> items(std::vector<float>(100, 1.0f));
    const tilefold::test::device_items<float> out(std::vector<float>(1, 5.0f));
    const tilefold::rank_lengths lengths(std::vector<std::int64_t>(devices.size(), 100));
    tilefold::reduce_into(tilefold::ranks(*comms[0], gpu, lengths), items.get(), items.get() + 100,
                          out.get());
    tilefold::reduce_into(tilefold::ranks(*comms[0], gpu, lengths), items.get(), items.get() + 100,
                          out.get(), tilefold::maximum{});
    if (!forwards) std::reverse(comms.begin(), comms.end());
    for (auto& comm : comms) comm = nullptr;
    gpu.synchronize();
    EXPECT_EQ(tilefold::test::fetched(gpu, out.get()), devices.size() == 1 ? 1.0f : 5.0f);
  }
}

// A rank that waits, on its GPU or in its thread, is woken by its own abort as by another's.
// Of two ranks, since what waits for a third, which neither calls nor leaves, waits on.
TEST(PeerRanks, AbortEndsWhatWaits) {
  auto devices = all_gpus();
  if (devices.size() == 1) GTEST_SKIP() << "nobody waits for anybody on one GPU";
  devices.resize(2);
  for (const std::size_t who : {std::size_t{0}, std::size_t{1}}) {
    for (const bool with_lengths : {true, false}) {
      auto comms = tilefold::peer_communicator::make(devices);
      std::thread waits([&] {
        must(cudaSetDevice(0));
        tilefold::cuda_executor gpu;
        const tilefold::test::device_items<float> items(std::vector<float>(100, 1.0f));
        const tilefold::rank_lengths lengths(std::vector<std::int64_t>(devices.size(), 100));
        const float* const first = items.get();
        EXPECT_THROW(
            {
              if (with_lengths) {
                (void)tilefold::reduce(tilefold::ranks(comms[0], gpu, lengths), first, first + 100);
              } else {
                (void)tilefold::reduce(tilefold::ranks(comms[0], gpu), first, first + 100);
              }
            },
            tilefold::communicator_error);
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      comms[who].abort();
      waits.join();
    }
  }
}

TEST(PeerRanks, Errors) {
  EXPECT_THROW(tilefold::peer_communicator::make({0, 0}), tilefold::invalid_range_error);
  EXPECT_THROW(tilefold::peer_communicator::make({}), tilefold::invalid_range_error);
}

}  // namespace
