// SPDX-License-Identifier: Apache-2.0
//
// How a GPU's pieces are made of ranges and segments, on an executor of the host that lends memory
// as a GPU's does: for every operation whose values of blocks follow from results.
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "../../src/capi/executor.hpp"
#include "../../src/capi/piece_blocks.hpp"
#include "support/items.hpp"

namespace tilefold::capi {

namespace {

/// Memory that both sides reach is the host's own.
struct lending_executor : host_executor {
  std::vector<std::int64_t> memory;

  template <class T>
  T* pinned_array(std::int64_t count) {
    memory.assign(static_cast<std::size_t>(count) + 1, 0x5555555555555555);
    return memory.data();
  }
  /// Nothing was written behind the end.
  bool is_whole() const { return memory.back() == 0x5555555555555555; }
};

tilefold_piece new_piece(const basic_kernel<host_executor>& kernel, std::int64_t position) {
  return {kernel.which, kernel.items, kernel.pieces, kernel.has_empty,
          kernel.pieces->make(position)};
}

TEST(PieceBlocks, AreThoseOfThePiecesOfTheHost) {
  const std::int64_t n = 3000;
  const auto random = test::make_items<std::uint64_t>(test::pattern::mixed, 2 * n + 2);
  int kinds = 0;
  for (int i = 0; i < num_named_ops; ++i) {
    for (int j = 0; j < num_dtypes; ++j) {
      const auto* const found = kernels().find(static_cast<op>(i), static_cast<dtype>(j));
      if (found == nullptr || found->pieces == nullptr || !found->pieces->blocks.is_known) continue;
      // A GPU has accumulators of exact sums in place of their results.
      const auto* const by = kernels().find(found->pieces->blocks.by, found->items);
      ASSERT_NE(by, nullptr);
      if (by->which == op::exact_sum) continue;
      ++kinds;
      // Small integers as any type: no NaN, and sums that round.
      std::vector<unsigned char> items(static_cast<std::size_t>(n) * 16);
      for (std::size_t k = 0; k < items.size(); ++k) {
        items[k] = found->items == dtype::boolean ? random[k / 8] % 2
                                                  : static_cast<unsigned char>(random[k / 8] % 61);
      }
      for (const std::int64_t position : {0, 1, 1000, 2047, 2049}) {
        for (const std::int64_t least_range : {1, 64, 512, 1 << 20}) {
          tilefold_piece expected = new_piece(*found, position);
          tilefold_piece got = new_piece(*found, position);
          lending_executor exec;
          basic_kernel<lending_executor> kernel{};
          static void (*fold)(host_executor&, const job&);
          fold = by->fold;
          kernel.fold = [](lending_executor& own, const job& call) { fold(own, call); };
          for (const std::int64_t count : {1, 2, 700, 1337}) {
            expected.state->append(exec, items.data(), found->items, count);
            capi::append_by_results(exec, kernel, got, items.data(), count, least_range);
            ASSERT_TRUE(exec.is_whole());
          }
          const auto a = expected.state->values();
          const auto b = got.state->values();
          ASSERT_EQ(a.size(), b.size());
          EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size()), 0)
              << name_of(found->which) << " of " << name_of(found->items) << " from " << position;
        }
      }
    }
  }
  EXPECT_GE(kinds, 200);
}

}  // namespace

}  // namespace tilefold::capi
