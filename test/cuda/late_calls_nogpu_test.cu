// SPDX-License-Identifier: Apache-2.0
//
// Calls at a bad time, on a runtime that only claims to have a GPU: from destructors at a thread's
// end, and where no memory is left to note a call.
#include <algorithm>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include <tilefold/cuda_group.cuh>
#include <tilefold/peers.cuh>
#include <tilefold/tilefold.cuh>

#include "support/failing_new.hpp"
#include "support/fake_runtime.cuh"

namespace tilefold::test {
namespace {

constexpr std::int64_t n = 4096;

// Ends after what the library keeps for its thread, because it was there before.
struct last_caller {
  const int* items = nullptr;
  ~last_caller() {
    if (items != nullptr) (void)tilefold::reduce(items, items + n);
  }
};

TEST(LateCalls, FromDestructorsOfAThreadKeepNothing) {
  const int* const items = fake::items_in<int>(cudaMemoryTypeDevice, n);
  (void)tilefold::reduce(items, items + n);
  const std::size_t before = fake::state().memory.size();
  for (int i = 0; i < 3; ++i) {
    std::thread([&] {
      thread_local last_caller caller;
      caller.items = items;
      (void)tilefold::reduce(items, items + n);
    }).join();
    EXPECT_EQ(fake::state().memory.size(), before);
  }
}

TEST(LateCalls, ThatCannotBeNotedAreNotCounted) {
  using detail::cuda::gather_ways;
  constexpr auto threads = gather_ways::way::in_threads;
  constexpr auto stream = gather_ways::way::in_stream;
  gather_ways ways(2);
  int failures = 0;
  int calls = 0;
  while (failures < 3 && calls < 5000) {
    allocations_left = 0;
    try {
      EXPECT_TRUE(ways.next(0, threads));
      ++calls;
    } catch (const std::bad_alloc&) {
      ++failures;
      allocations_left = -1;
      EXPECT_TRUE(ways.next(0, threads));
      ++calls;
    }
    allocations_left = -1;
  }
  EXPECT_EQ(failures, 3);
  for (int i = 0; i < calls; ++i) ASSERT_TRUE(ways.next(1, threads)) << i;
  EXPECT_TRUE(ways.next(1, stream));
  EXPECT_TRUE(ways.next(0, stream));
}

// The segment that crosses the cut between two GPUs is folded before anything is launched for the
// others, so that nothing is written if that fails.
TEST(LateCalls, OfAGroupLaunchNothingIfASegmentThatCrossesTheCutFails) {
  constexpr std::int64_t many = 1 << 16;
  const int* const items = fake::items_in<int>(cudaMemoryTypeHost, many);
  auto* const offsets = fake::items_in<std::int64_t>(cudaMemoryTypeHost, 4);
  int* const out = fake::items_in<int>(cudaMemoryTypeHost, 3);
  const cuda_group gpus({0, 1});
  const auto launches = [] {
    return std::count(fake::state().log.begin(), fake::state().log.end(), "launch");
  };
  // Kernels of segments ask their questions here.
  offsets[1] = many / 2, offsets[2] = many;
  segmented_reduce(gpus, items, offsets, 2, out, plus{});
  EXPECT_GT(launches(), 0);

  offsets[1] = 1000, offsets[2] = 40000, offsets[3] = many;
  fake::state().log.clear();
  fake::state().answers_left = 0;
  EXPECT_THROW(segmented_reduce(gpus, items, offsets, 3, out, plus{}), cuda_error);
  EXPECT_EQ(launches(), 0);

  fake::state().answers_left = -1;
  segmented_reduce(gpus, items, offsets, 3, out, plus{});
  EXPECT_GT(launches(), 0);
}

}  // namespace
}  // namespace tilefold::test
