// SPDX-License-Identifier: Apache-2.0
//
// Pieces of structs that a GPU folds, and of any tile policy, are nodes of the tree.
#include <tilefold/piece.hpp>

#include <cstdint>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>

#include "../conformance/conformance.hpp"
#include "../support/device_order.cuh"
#include "../support/oracle.hpp"
#include "../support/order.hpp"
#include "piece.cuh"

namespace {

template <class Policy>
class CudaPieceOf : public ::testing::Test {};
using piece_policies =
    ::testing::Types<tilefold::test::policy_case<32, 1>, tilefold::test::policy_case<128, 64>,
                     tilefold::test::policy_case<1024, 4>>;
TYPED_TEST_SUITE(CudaPieceOf, piece_policies);

// Of the smallest tiles three levels of groups.
TYPED_TEST(CudaPieceOf, AnyPolicy) {
  constexpr tilefold::tile_policy policy = TypeParam::value;
  const nodes_of hashes(tilefold::test::leaf_hashes(1 << 18), node_hash{});
  tilefold::cuda_executor gpu;
  auto exec = tilefold::with_policy<policy>(gpu);
  hashes.expect_pieces(exec, policy.tile(), 100);
}

// Structs of which lanes fold runs, and such that are large.
template <class Word, int N>
void expect_pieces_of_structs(std::int64_t n, std::int64_t tile, int rounds) {
  using item = tilefold::test::words<Word, N>;
  const nodes_of structs(tilefold::test::make_items<item>(tilefold::test::pattern::mixed, n),
                         tilefold::test::mix_words{});
  tilefold::cuda_executor gpu;
  structs.expect_pieces(gpu, tile, rounds);
}

TEST(CudaPiece, Structs) {
  expect_pieces_of_structs<std::uint8_t, 3>(200000, 8192, 60);
  expect_pieces_of_structs<std::uint32_t, 3>(900000, 4096, 60);
  expect_pieces_of_structs<std::uint32_t, 20>(100000, 512, 60);
}

}  // namespace
