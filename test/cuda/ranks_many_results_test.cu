// SPDX-License-Identifier: Apache-2.0
//
// Segments, runs and columns that cross virtual ranks, each a thread with an executor of its own,
// on all GPUs in turn.
#include <tilefold/ranks.hpp>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>

#include "../support/device.cuh"
#include "../support/gpu_lists.hpp"
#include "../support/rank_verbs.cuh"
#include "ranks.cuh"

namespace {

TEST(CudaRanks, SegmentsRunsAndColumnsThatCrossRanks) {
  const int gpus = tilefold::test::num_gpus();
  for (const int ranks : {2, 5, 8}) {
    thread_communicator::run(ranks, [&](thread_communicator& comm) {
      tilefold::test::must(cudaSetDevice(comm.rank() % gpus));
      tilefold::cuda_executor gpu;
      tilefold::test::expect_many_results_of_ranks(comm, gpu, num_cuts(50));
    });
  }
}

}  // namespace
