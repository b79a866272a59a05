// SPDX-License-Identifier: Apache-2.0
//
// Segments, runs and columns that cross virtual ranks on one GPU.
#include <tilefold/ranks.hpp>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>

#include "../support/rank_verbs.cuh"
#include "ranks.cuh"

namespace {

TEST(CudaRanks, SegmentsRunsAndColumnsThatCrossRanks) {
  for (const int ranks : {2, 5}) {
    on_ranks(ranks, [](thread_communicator& comm, tilefold::cuda_executor& gpu) {
      tilefold::test::expect_many_results_of_ranks(comm, gpu, num_cuts(50));
    });
  }
}

}  // namespace
