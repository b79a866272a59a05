// SPDX-License-Identifier: Apache-2.0
//
// Pieces that a GPU folds have the values of their maximal aligned blocks, each as the neighbour
// tree has it, and the bits of those of the host, whatever their position. They merge with those.
// Of reducers indices count in the whole. (piece_structs_test.cu has structs and policies.)
#include <cmath>
#include <cstdint>
#include <vector>

#include <cuda_fp16.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/piece.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/top_k.hpp>

#include "../support/device.cuh"
#include "../support/oracle.hpp"
#include "../support/order.hpp"
#include "../support/random.hpp"
#include "../support/seed.hpp"
#include "piece.cuh"

namespace {

namespace r = tilefold::reducers;

TEST(CudaPiece, HashesOfExpressions) {
  expect_pieces_of_the_host(tilefold::test::leaf_hashes(400000), node_hash{});
}

TEST(CudaPiece, Sums) { expect_pieces_of_the_host(mixed_floats(items), tilefold::plus{}); }

TEST(CudaPiece, Extremes) { expect_pieces_of_the_host(mixed_floats(items), tilefold::minimum{}); }

TEST(CudaPiece, BlocksAreNodesOfTheWhole) {
  const nodes_of hashes(tilefold::test::leaf_hashes(1 << 20), node_hash{});
  tilefold::cuda_executor gpu;
  hashes.expect_pieces(gpu, 8192, 150);
  const nodes_of floats(mixed_floats(3000000), tilefold::plus{});
  floats.expect_pieces(gpu, 8192, 150);
}

// Tiles of 16384 items: halves are folded in floats.
TEST(CudaPiece, OfHalvesAreNodesOfTheirFloats) {
  SCOPED_TRACE(tilefold::test::seed());
  std::vector<__half> halves;
  std::vector<float> values;
  for (const float x : mixed_floats(1 << 18)) {
    halves.push_back(__float2half(std::ldexp(x, -12)));
    values.push_back(__half2float(halves.back()));
  }
  const nodes_of floats(values, tilefold::plus{});
  const tilefold::test::gpu_array<__half> memory(halves);
  tilefold::cuda_executor gpu;
  shape_stream bits(tilefold::test::seed());
  for (int i = 0; i < 200; ++i) {
    const std::int64_t begin = bits.below(15) * 16384 + bits.below(9);
    const std::int64_t end = begin + bits.below(bits.one_in(3) ? 100 : (1 << 18) - begin + 1);
    floats.expect_piece(gpu, memory.data(), begin, end, bits.one_in(2) ? 0 : std::int64_t{1} << 40);
  }
}

TEST(CudaPiece, EveryShortOneAroundATilesBorder) {
  const nodes_of hashes(tilefold::test::leaf_hashes(1 << 14), node_hash{});
  const tilefold::test::gpu_array<tilefold::test::tree_hash> memory(hashes.items());
  tilefold::cuda_executor gpu;
  for (std::int64_t begin = 8192 - 37; begin <= 8192 + 2; ++begin) {
    for (std::int64_t n = 0; n <= 70; ++n) {
      hashes.expect_piece(gpu, memory.data(), begin, begin + n, 0);
    }
  }
}

struct SanitizePiece : ::testing::Test {};

TEST_F(SanitizePiece, EndsOfMemory) {
  const nodes_of hashes(tilefold::test::leaf_hashes(9000), node_hash{});
  const nodes_of floats(mixed_floats(40000), tilefold::plus{});
  tilefold::cuda_executor gpu;
  auto small = tilefold::with_policy<tilefold::tile_policy{32, 1}>(gpu);
  hashes.expect_pieces(small, 32, 4);
  hashes.expect_pieces(gpu, 8192, 4);
  floats.expect_pieces(gpu, 8192, 8);
}

// One kernel, whatever the piece, and no more workspace than the query says.
TEST(CudaPiece, IsOneLaunch) {
  const auto x = mixed_floats(items);
  const tilefold::test::gpu_array<float> memory(x);
  tilefold::test::gpu_array<float> out(tilefold::tree::aligned_blocks::most);
  const tilefold::test::scoped_stream stream;
  tilefold::cuda_executor gpu(stream);
  const tilefold::detail::op_reducer<float, tilefold::plus> sums{};
  const nodes_of floats(x, tilefold::plus{});
  shape_stream bits(tilefold::test::seed());
  for (int i = 0; i < 40; ++i) {
    const std::int64_t begin = bits.below(items);
    const std::int64_t n = 1 + bits.below(items - begin);
    const tilefold::test::gpu_array<char> workspace(
        tilefold::cuda_executor::piece_workspace_bytes(n, 4, 4) + 512);
    gpu.use_workspace(workspace.data(), workspace.size() / 256 * 256);
    floats.expect_piece(gpu, memory.data(), begin, begin + n, 0);
    cudaGraph_t graph = nullptr;
    tilefold::test::must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    gpu.fold_blocks_to<tilefold::detail::default_policy>(
        tilefold::detail::source<const float*>{{memory.data() + begin}}, sums, begin, n,
        tilefold::detail::raw_output<float>{out.data()});
    tilefold::test::must(cudaStreamEndCapture(stream, &graph));
    std::size_t nodes = 0;
    tilefold::test::must(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT_EQ(nodes, 1u) << n << " items from " << begin;
    tilefold::test::must(cudaGraphDestroy(graph));
    EXPECT_EQ(gpu.workspace_bytes(), workspace.size() / 256 * 256);
    gpu.synchronize();
  }
}

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
