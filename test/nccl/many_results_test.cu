// SPDX-License-Identifier: Apache-2.0
//
// Segments, runs of keys and columns over ranks that NCCL joins.
#include <tilefold/nccl.cuh>

#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>

#include "../support/gpu_lists.hpp"
#include "../support/rank_verbs.cuh"
#include "nccl.cuh"

namespace {

using tilefold::test::on_gpus;

TEST(NcclRanksOfManyResults, SegmentsRunsAndColumnsThatCrossRanks) {
  if (tilefold::test::num_gpus() == 1) GTEST_SKIP() << "nothing crosses ranks on one GPU";
  for (const std::vector<int>& devices : tilefold::test::gpu_lists(false)) {
    SCOPED_TRACE(tilefold::test::text_of(devices));
    on_gpus(devices, [](tilefold::nccl_communicator& comm) {
      tilefold::cuda_executor gpu;
      tilefold::test::expect_many_results_of_ranks(comm, gpu, 10);
    });
  }
}

}  // namespace
