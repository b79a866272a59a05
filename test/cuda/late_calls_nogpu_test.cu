// SPDX-License-Identifier: Apache-2.0
//
// Calls at a bad time, on a runtime that only claims to have a GPU: from destructors at a thread's
// end, and where no memory is left to note a call.
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tilefold::test
