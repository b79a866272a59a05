// SPDX-License-Identifier: Apache-2.0
//
// The stack of a warp by itself: any number of values pushed, one after the other, and then once
// more after it was cleared; every lane has their neighbour tree.
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/detail/cuda/base/kernel.cuh>

#include "support/device.cuh"
#include "support/pieces.cuh"

namespace tilefold::test {
namespace {

namespace part = tilefold::detail::cuda;

template <class Piece>
using reducer_of = part::closed_reducer<detail::op_reducer<Piece, join_pieces>>;

/// Block b pushes items 0 to b; and, after it cleared the stack, items 7 to 7 + 2 b.
template <class Piece>
__global__ void push_and_clear(reducer_of<Piece> reducer, Piece* once, Piece* again) {
  const int place = static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x);
  part::warp_stack<reducer_of<Piece>> stack(reducer);
  for (unsigned i = 0; i <= blockIdx.x; ++i) stack.push(Piece(i));
  once[place] = stack.value();
  stack.clear();
  for (unsigned i = 0; i <= 2 * blockIdx.x; ++i) stack.push(Piece(7 + i));
  again[place] = stack.value();
}

template <int Words>
void expect_trees(int most) {
  gpu_array<piece<Words>> once(32 * most), again(32 * most);
  push_and_clear<piece<Words>><<<most, 32>>>({}, once.data(), again.data());
  must(cudaGetLastError());
  const auto got = once.to_host(), got_again = again.to_host();
  for (int b = 0; b < most; ++b) {
    const auto expected = tree_of_pieces<Words>(0, b + 1);
    const auto expected_again = tree_of_pieces<Words>(7, 2 * b + 1);
    for (int t = 0; t < 32; ++t) {
      const auto at = static_cast<std::size_t>(32 * b + t);
      ASSERT_EQ(got[at], expected) << b + 1 << " values, lane " << t;
      ASSERT_EQ(got_again[at], expected_again) << 2 * b + 1 << " values after clear(), lane " << t;
    }
  }
}

TEST(WarpStack, HasTheTreeOfAnyNumberOfValues) { expect_trees<1>(600); }
TEST(WarpStack, HasTheTreeOfLargeValues) { expect_trees<5>(300); }

// Lane l holds the value of 2^l blocks: there is a lane for every count of 32 bits.
__global__ void push_very_many(reducer_of<piece<1>> reducer, std::int64_t count, piece<1>* out) {
  part::warp_stack<reducer_of<piece<1>>> stack(reducer);
  for (std::int64_t i = 0; i < count; ++i) stack.push(piece<1>(static_cast<std::uint32_t>(i)));
  out[threadIdx.x] = stack.value();
}

TEST(WarpStack, HoldsManyLevels) {
  const std::int64_t count = (1 << 17) + (1 << 9) + 5;
  gpu_array<piece<1>> out(32);
  push_very_many<<<1, 32>>>({}, count, out.data());
  must(cudaGetLastError());
  const auto expected = tree_of_pieces<1>(0, count);
  for (const auto& got : out.to_host()) ASSERT_EQ(got, expected);
}

}  // namespace
}  // namespace tilefold::test
