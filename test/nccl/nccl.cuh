// SPDX-License-Identifier: Apache-2.0
//
// Ranks that NCCL joins: a thread and a GPU each.
#pragma once

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/nccl.cuh>

#include "../support/device.cuh"

namespace tilefold::test {

// Calls body(comm) on a thread for each GPU.
template <class Body>
void on_nccl(const std::vector<int>& devices, const Body& body) {
  std::vector<ncclComm_t> comms(devices.size());
  ASSERT_EQ(ncclCommInitAll(comms.data(), static_cast<int>(devices.size()), devices.data()),
            ncclSuccess);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    threads.emplace_back([&, rank] {
      must(cudaSetDevice(devices[rank]));
      tilefold::nccl_communicator comm(comms[rank]);
      EXPECT_EQ(comm.device(), devices[rank]);
      body(comm);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

}  // namespace tilefold::test
