// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are GPUs of one process and write each other's memory: as many as there are GPUs, at
// most four. The bits are those of one call.
#include <tilefold/peers.cuh>

#include <algorithm>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../support/stream_ranks.cuh"

namespace {

using tilefold::test::must;

std::vector<int> all_gpus() {
  int gpus = 0;
  must(cudaGetDeviceCount(&gpus));
  std::vector<int> devices;
  for (int device = 0; device < std::min(gpus, 4); ++device) devices.push_back(device);
  return devices;
}

// Calls body(comm) on a thread for each GPU.
constexpr auto on_all = [](const auto& body) {
  auto comms = tilefold::peer_communicator::make(all_gpus());
  std::vector<std::thread> threads;
  for (auto& comm : comms) {
    threads.emplace_back([&body, &comm] {
      must(cudaSetDevice(comm.device()));
      body(comm);
    });
  }
  for (std::thread& thread : threads) thread.join();
};

TEST(PeerRanks, InStreamOrderAndInGraphs) {
  tilefold::test::expect_stream_order_and_graphs(on_all);
}
TEST(PeerRanks, IndicesInStreamOrderCountInTheWhole) {
  tilefold::test::expect_indices_in_the_whole(on_all);
}
TEST(PeerRanks, NothingAtAllInStreamOrder) { tilefold::test::expect_nothing_at_all(on_all); }
TEST(PeerRanks, WhatGoesWrongInStreamOrderIsToldToAll) {
  tilefold::test::expect_errors_are_told(on_all);
}

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

TEST(PeerRanks, ARankThatLeavesIsTold) {
  if (all_gpus().size() < 2) return;
  auto comms = tilefold::peer_communicator::make({0, 1});
  must(cudaSetDevice(0));
  tilefold::cuda_executor gpu;
  const tilefold::test::device_items<float> items(std::vector<float>(10, 1.0f));
  const tilefold::rank_lengths lengths({10, 10});
  const auto all = tilefold::ranks(comms[0], gpu, lengths);
  tilefold::reduce_into(all, items.get(), items.get() + 10, items.get());
  comms.pop_back();  // rank 1 leaves, while rank 0's GPU waits for its message
  gpu.synchronize();
  EXPECT_THROW(comms[0].throw_errors(), tilefold::communicator_error);
  EXPECT_THROW((void)tilefold::reduce(all, items.get(), items.get() + 10),
               tilefold::communicator_error);
}

TEST(PeerRanks, Errors) {
  EXPECT_THROW(tilefold::peer_communicator::make({0, 0}), tilefold::invalid_range_error);
  EXPECT_THROW(tilefold::peer_communicator::make({}), tilefold::invalid_range_error);
}

}  // namespace
