// SPDX-License-Identifier: Apache-2.0
//
// Pieces that a GPU folds with reducers have the bits of those of the host; indices count in the
// whole.
#include <tilefold/piece.hpp>

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/top_k.hpp>

#include "../support/device.cuh"
#include "../support/random.hpp"
#include "../support/seed.hpp"
#include "piece.cuh"

namespace {

namespace r = tilefold::reducers;

TEST(CudaPiece, ExactSums) { expect_pieces_of_the_host(mixed_floats(items), r::exact_sum{}); }

TEST(CudaPiece, Statistics) {
  expect_pieces_of_the_host(mixed_floats(items), r::variance{});
  // Long enough for staged tiles.
  expect_pieces_of_the_host(mixed_floats(5000000), r::variance{});
}

TEST(CudaPiece, IndicesCountInTheWhole) {
  const auto x = mixed_floats(items);
  const tilefold::test::gpu_array<float> on_gpu(x);
  const float* const first = on_gpu.data();
  tilefold::cuda_executor gpu;
  const auto op = r::fuse(r::arg_min{}, r::mean{}, r::arg_max{});
  shape_stream bits(tilefold::test::seed());
  for (int i = 0; i < 30; ++i) {
    const std::int64_t cut = bits.below(items + 1);
    auto least = tilefold::reduce_piece(gpu, first, first + cut, 0, r::arg_min{});
    least.append(gpu, first + cut, first + items);
    ASSERT_EQ(least.value().index, tilefold::reduce(x, r::arg_min{}).index);
    auto best = tilefold::reduce_piece(gpu, first, first + cut, 0, r::top_k<4>{});
    best.append(gpu, first + cut, first + items);
    const auto found = best.value();
    const auto expected = tilefold::reduce(x, r::top_k<4>{});
    for (int k = 0; k < 4; ++k) ASSERT_EQ(found[k].index, expected[k].index);
    auto fused = tilefold::reduce_piece(gpu, first, first + cut, 0, op);
    fused.append(gpu, first + cut, first + items);
    const auto got = fused.value();
    const auto all = tilefold::reduce(x, op);
    ASSERT_EQ(tilefold::get<0>(got).index, tilefold::get<0>(all).index);
    ASSERT_EQ(tilefold::get<1>(got), tilefold::get<1>(all));
    ASSERT_EQ(tilefold::get<2>(got).index, tilefold::get<2>(all).index);
  }
}

}  // namespace
