// SPDX-License-Identifier: Apache-2.0
//
// Ranks whose communicator works in stream order, one thread and one GPU each, as many as there are
// GPUs: peers and, where there is an NCCL, its ranks. In one program, since they share their
// kernels.
#include <gtest/gtest.h>

#include "../support/gpu_lists.hpp"
#include "../support/stream_ranks.cuh"
#include "peers.cuh"
#if defined(TILEFOLD_TEST_NCCL)
#include "../nccl/nccl.cuh"
#endif

namespace tilefold::test {
namespace {

struct peers {
  template <class Body>
  void operator()(const Body& body) const {
    on_peers(all_gpus(), body);
  }
};
#if defined(TILEFOLD_TEST_NCCL)
struct by_nccl {
  template <class Body>
  void operator()(const Body& body) const {
    on_nccl(all_gpus(), body);
  }
};
using joined = testing::Types<peers, by_nccl>;
#else
using joined = testing::Types<peers>;
TEST(NcclRanksInStreamOrder, AreNotTested) { GTEST_SKIP() << "no NCCL"; }
#endif

template <class OnGpus>
class RanksInStreamOrder : public testing::Test {};
TYPED_TEST_SUITE(RanksInStreamOrder, joined);

TYPED_TEST(RanksInStreamOrder, BitsOfOneCallAlsoFromGraphs) {
  expect_stream_order_and_graphs(TypeParam{});
}
TYPED_TEST(RanksInStreamOrder, IndicesCountInTheWhole) { expect_indices_in_the_whole(TypeParam{}); }
TYPED_TEST(RanksInStreamOrder, NothingAtAll) { expect_nothing_at_all(TypeParam{}); }
TYPED_TEST(RanksInStreamOrder, WhatGoesWrongIsToldToAll) { expect_errors_are_told(TypeParam{}); }
TYPED_TEST(RanksInStreamOrder, ABadOutIsToldToAll) { expect_a_bad_out_is_told(TypeParam{}); }
TYPED_TEST(RanksInStreamOrder, AnExecutorOfAnotherGpuIsToldToAll) {
  expect_an_executor_of_another_gpu_is_told(TypeParam{});
}
TYPED_TEST(RanksInStreamOrder, RoomCanGrow) { expect_room_can_grow(TypeParam{}); }

}  // namespace
}  // namespace tilefold::test
