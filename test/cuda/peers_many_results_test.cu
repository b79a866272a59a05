// SPDX-License-Identifier: Apache-2.0
//
// Segments, runs of keys and columns over ranks that are GPUs of one process and write each other's
// memory.
#include <tilefold/peers.cuh>

#include <vector>

#include <gtest/gtest.h>

#include "../support/gpu_lists.hpp"
#include "../support/rank_verbs.cuh"
#include "peers.cuh"

namespace {

using tilefold::test::all_gpus;
using tilefold::test::on_gpus;

TEST(PeerRanksOfManyResults, SegmentsRunsAndColumnsThatCrossRanks) {
  if (all_gpus().size() == 1) GTEST_SKIP() << "nothing crosses ranks on one GPU";
  for (const std::vector<int>& devices : tilefold::test::gpu_lists(false)) {
    SCOPED_TRACE(tilefold::test::text_of(devices));
    on_gpus(devices, [](tilefold::peer_communicator& comm) {
      tilefold::cuda_executor gpu;
      tilefold::test::expect_many_results_of_ranks(comm, gpu, 10);
    });
  }
}

}  // namespace
