// SPDX-License-Identifier: Apache-2.0
//
// Segments, runs and columns that cross ranks: virtual ones, each a thread with an executor of its
// own, on all GPUs in turn; GPUs that write each other's memory; and, where there is an NCCL, its
// ranks. In one program, since they share their kernels.
#include <tilefold/ranks.hpp>

#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>

#include "../support/device.cuh"
#include "../support/gpu_lists.hpp"
#include "../support/rank_verbs.cuh"
#include "peers.cuh"
#include "ranks.cuh"
#if defined(TILEFOLD_TEST_NCCL)
#include "../nccl/nccl.cuh"
#endif

namespace tilefold::test {
namespace {

TEST(CudaRanks, SegmentsRunsAndColumnsThatCrossRanks) {
  const int gpus = num_gpus();
  for (const int ranks : {2, 5, 8}) {
    thread_communicator::run(ranks, [&](thread_communicator& comm) {
      must(cudaSetDevice(comm.rank() % gpus));
      cuda_executor gpu;
      expect_many_results_of_ranks(comm, gpu, num_cuts(50));
    });
  }
}

TEST(PeerRanks, SegmentsRunsAndColumnsThatCrossRanks) {
  if (num_gpus() == 1) GTEST_SKIP() << "nothing crosses ranks on one GPU";
  for (const std::vector<int>& devices : gpu_lists(false)) {
    SCOPED_TRACE(text_of(devices));
    on_peers(devices, [](peer_communicator& comm) {
      cuda_executor gpu;
      expect_many_results_of_ranks(comm, gpu, 10);
    });
  }
}

#if defined(TILEFOLD_TEST_NCCL)
TEST(NcclRanks, SegmentsRunsAndColumnsThatCrossRanks) {
  if (num_gpus() == 1) GTEST_SKIP() << "nothing crosses ranks on one GPU";
  for (const std::vector<int>& devices : gpu_lists(false)) {
    SCOPED_TRACE(text_of(devices));
    on_nccl(devices, [](nccl_communicator& comm) {
      cuda_executor gpu;
      expect_many_results_of_ranks(comm, gpu, 10);
    });
  }
}
#else
TEST(NcclRanks, SegmentsRunsAndColumnsThatCrossRanks) { GTEST_SKIP() << "no NCCL"; }
#endif

}  // namespace
}  // namespace tilefold::test
