// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are GPUs of one process, a thread each.
#pragma once

#include <thread>
#include <vector>

#include <tilefold/peers.cuh>

#include "../support/device.cuh"

namespace tilefold::test {

// Calls body(comm) on a thread for each GPU.
template <class Body>
void on_peers(const std::vector<int>& devices, const Body& body) {
  auto comms = tilefold::peer_communicator::make(devices);
  std::vector<std::thread> threads;
  for (auto& comm : comms) {
    threads.emplace_back([&body, &comm] {
      must(cudaSetDevice(comm.device()));
      body(comm);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tilefold::test
