// SPDX-License-Identifier: Apache-2.0
//
// Ranks of which one has no memory for a long message: all are told, and nobody waits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/ranks.hpp>

#include "support/views.hpp"

namespace {

// What this thread cannot get: allocations of so many bytes or more.
thread_local std::size_t too_many_bytes = ~std::size_t{0};

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (bytes >= too_many_bytes) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using tilefold::thread_communicator;
using tilefold::test::row_major;

TEST(RanksMemory, WhoHasNoneForALongMessageTellsAll) {
  constexpr std::int64_t rows = 3;
  constexpr std::int64_t columns = 200000;
  thread_communicator::run(3, [&](thread_communicator& comm) {
    const tilefold::host_executor exec(1);
    const auto all = tilefold::ranks(comm, exec);
    std::vector<double> x(rows * columns, 1.0 + comm.rank());
    std::vector<double> sums(columns);
    const auto fold = [&] {
      tilefold::axis_reduce(all, row_major(x.data(), {rows, columns}),
                            row_major(sums.data(), {columns}), 0, tilefold::plus{});
    };
    for (int round = 0; round < 2; ++round) {
      // The message is at least a block of each column; the rank's own blocks it can keep.
      if (comm.rank() == 1) {
        too_many_bytes = 3 * columns * sizeof(double);
        EXPECT_THROW(fold(), std::bad_alloc);
        too_many_bytes = ~std::size_t{0};
      } else {
        try {
          fold();
          ADD_FAILURE() << "rank " << comm.rank() << " was not told";
        } catch (const tilefold::rank_error& error) {
          EXPECT_NE(std::string(error.what()).find("rank 1"), std::string::npos) << error.what();
        }
      }
      fold();
      EXPECT_EQ(sums[columns - 1], 3 * (1.0 + 2.0 + 3.0));
    }
  });
}

}  // namespace
