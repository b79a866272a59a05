// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are GPUs of one process and write each other's memory: as many as there are GPUs, at
// most four. The bits are those of one call.
#include <tilefold/peers.cuh>

#include <algorithm>
#include <chrono>
#include <memory>
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
TEST(PeerRanks, ABadOutIsToldToAll) { tilefold::test::expect_a_bad_out_is_told(on_all); }
TEST(PeerRanks, AnExecutorOfAnotherGpuIsToldToAll) {
  tilefold::test::expect_an_executor_of_another_gpu_is_told(on_all);
}
TEST(PeerRanks, RoomCanGrow) { tilefold::test::expect_room_can_grow(on_all); }

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

// Three ranks on one GPU. The last leaves before rank 1 has come, whose message must arrive still.
TEST(PeerGather, ARankThatLeavesKeepsNobodyFromTheOthers) {
  constexpr int ranks = 3;
  constexpr std::int64_t bytes = 1024;
  tilefold::detail::cuda::peer_group group({0, 0, 0});
  std::vector<tilefold::cuda_executor> gpus(ranks);
  std::vector<std::vector<int>> sent;
  std::vector<std::unique_ptr<tilefold::test::device_items<int>>> own;
  std::vector<std::unique_ptr<tilefold::test::device_items<int>>> all;
  for (int r = 0; r < ranks; ++r) {
    sent.emplace_back(bytes / sizeof(int), 1000 + r);
    own.push_back(std::make_unique<tilefold::test::device_items<int>>(sent.back()));
    all.push_back(std::make_unique<tilefold::test::device_items<int>>(
        std::vector<int>(ranks * bytes / sizeof(int), -1)));
  }
  const auto gather = [&](int r) {
    const auto at = static_cast<std::size_t>(r);
    tilefold::detail::cuda::peer_gather_kernel<tilefold::detail::cuda::this_build>
        <<<ranks, tilefold::detail::cuda::peer_gather_nt, 0, gpus[at].stream()>>>(
            reinterpret_cast<const char*>(own[at]->get()), reinterpret_cast<char*>(all[at]->get()),
            bytes, r, group.inboxes(r), tilefold::detail::cuda::peer_group::capacity, group.left());
    must(cudaGetLastError());
  };
  gather(0);
  group.leave(2);
  // By then block 2 of rank 0 has found out, and block 1 would have, if it asked for any rank.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  gather(1);
  for (int r = 0; r < 2; ++r) {
    gpus[static_cast<std::size_t>(r)].synchronize();
    std::vector<int> got(ranks * bytes / sizeof(int));
    must(cudaMemcpy(got.data(), all[static_cast<std::size_t>(r)]->get(), ranks * bytes,
                    cudaMemcpyDeviceToHost));
    std::vector<int> expected = sent[0];
    expected.insert(expected.end(), sent[1].begin(), sent[1].end());
    expected.resize(got.size(), 0);
    EXPECT_EQ(got, expected) << "rank " << r;
  }
  EXPECT_TRUE(group.has_left(2));
  EXPECT_FALSE(group.has_left(1));
}

TEST(PeerRanks, Errors) {
  EXPECT_THROW(tilefold::peer_communicator::make({0, 0}), tilefold::invalid_range_error);
  EXPECT_THROW(tilefold::peer_communicator::make({}), tilefold::invalid_range_error);
}

}  // namespace
