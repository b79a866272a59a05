// SPDX-License-Identifier: Apache-2.0
//
// Pieces that a GPU folds have the values of their maximal aligned blocks, each as the neighbour
// tree has it, and the bits of those of the host, whatever their position. They merge with those.
#include <tilefold/piece.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <thrust/device_vector.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/top_k.hpp>

#include "../conformance/conformance.hpp"
#include "../support/device.cuh"
#include "../support/device_order.cuh"
#include "../support/oracle.hpp"
#include "../support/order.hpp"
#include "../support/random.hpp"
#include "../support/seed.hpp"

namespace {

namespace r = tilefold::reducers;
using tilefold::test::node_hash;
using tilefold::test::shape_stream;
using tilefold::test::tree_hash;

// Lengths of every way that a launch can take, at positions near and far.
template <class T, class Op>
void expect_pieces_of_the_host(const std::vector<T>& x, Op op) {
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  const thrust::device_vector<T> on_gpu(x);
  const T* const items = on_gpu.data().get();
  tilefold::cuda_executor gpu;
  const tilefold::host_executor host;
  for (int i = 0; i < 150; ++i) {
    const auto all = static_cast<std::int64_t>(x.size());
    const std::int64_t n = 1 + bits.below(i % 3 == 0 ? all : i % 3 == 1 ? 2000 : 70);
    const std::int64_t first = bits.below(all - n + 1);
    std::int64_t position = static_cast<std::int64_t>(bits() >> (1 + bits.below(62)));
    if (position > (std::int64_t{1} << 62)) position = 0;
    const auto expected =
        tilefold::reduce_piece(host, x.data() + first, x.data() + first + n, position, op);
    const auto got = tilefold::reduce_piece(gpu, items + first, items + first + n, position, op);
    ASSERT_EQ(got.num_blocks(), expected.num_blocks());
    ASSERT_EQ(got.begin(), expected.begin());
    ASSERT_EQ(got.end(), expected.end());
    // Every block's value.
    ASSERT_EQ(got.to_bytes(), expected.to_bytes())
        << n << " items from " << first << " at " << position;
    if (position == 0) {
      const auto a = got.value();
      const auto b = expected.value();
      ASSERT_EQ(0, std::memcmp(&a, &b, sizeof a)) << n << " items from " << first;
    }
  }
  // The whole from parts of both.
  for (int i = 0; i < 30; ++i) {
    tilefold::piece<T, Op> whole(op);
    while (whole.end() < static_cast<std::int64_t>(x.size())) {
      const auto left = static_cast<std::int64_t>(x.size()) - whole.end();
      const std::int64_t n = bits.below(left + 1);
      const std::int64_t at = whole.end();
      if (bits.one_in(2)) {
        whole.append(gpu, items + at, items + at + n);
      } else {
        whole.append(host, x.data() + at, x.data() + at + n);
      }
    }
    const auto a = whole.value();
    const auto b = tilefold::reduce(host, x, op);
    ASSERT_EQ(0, std::memcmp(&a, &b, sizeof a)) << "round " << i;
  }
}

std::vector<float> mixed_floats(std::int64_t n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint64_t bits = tilefold::test::mixed_bits(i);
    x[i] = std::ldexp(static_cast<float>(static_cast<int>(bits % 2001) - 1000),
                      static_cast<int>(bits >> 32 & 31) - 16);
  }
  return x;
}

constexpr std::int64_t items = 1500000;

TEST(CudaPiece, HashesOfExpressions) {
  expect_pieces_of_the_host(tilefold::test::leaf_hashes(400000), node_hash{});
}
TEST(CudaPiece, Sums) { expect_pieces_of_the_host(mixed_floats(items), tilefold::plus{}); }
TEST(CudaPiece, Extremes) { expect_pieces_of_the_host(mixed_floats(items), tilefold::minimum{}); }
TEST(CudaPiece, ExactSums) { expect_pieces_of_the_host(mixed_floats(items), r::exact_sum{}); }
TEST(CudaPiece, Statistics) {
  expect_pieces_of_the_host(mixed_floats(items), r::variance{});
  // Long enough for staged tiles.
  expect_pieces_of_the_host(mixed_floats(5000000), r::variance{});
}

/// Pieces of one sequence, whose item i stands at position `far` + i, against its nodes.
template <class T, class Op>
class nodes_of {
 public:
  nodes_of(std::vector<T> x, Op op) : op_(op), levels_{std::move(x)} {
    while (levels_.back().size() > 1) {
      const std::vector<T>& below = levels_.back();
      std::vector<T> level;
      for (std::size_t i = 0; i + 1 < below.size(); i += 2) {
        level.push_back(op(below[i], below[i + 1]));
      }
      levels_.push_back(std::move(level));
    }
  }
  const std::vector<T>& items() const { return levels_.front(); }

  /// `items` are those of the sequence, in memory of the GPU.
  template <class Exec>
  void expect_piece(Exec& exec, const T* items, std::int64_t begin, std::int64_t end,
                    std::int64_t far) const {
    const auto piece = tilefold::reduce_piece(exec, items + begin, items + end, far + begin, op_);
    const std::vector<std::byte> bytes = piece.to_bytes();
    const auto count = static_cast<std::size_t>(piece.num_blocks());
    // In front of the checksum.
    const std::byte* value = bytes.data() + bytes.size() - 8 - count * sizeof(T);
    std::size_t found = 0;
    for (std::int64_t first = begin; first < end; ++found, value += sizeof(T)) {
      std::size_t level = 0;
      std::int64_t size = 1;
      for (; first % (2 * size) == 0 && first + 2 * size <= end; size *= 2) ++level;
      ASSERT_LT(found, count);
      const T& expected = levels_[level][static_cast<std::size_t>(first / size)];
      ASSERT_EQ(0, std::memcmp(value, &expected, sizeof(T)))
          << "[" << begin << ", " << end << ") at " << far << ": block of " << size << " from "
          << first;
      first += size;
    }
    ASSERT_EQ(found, count);
  }

  /// Pieces whose ends lie around borders of tiles and groups, and anywhere, of aligned memory and
  /// of other.
  template <class Exec>
  void expect_pieces(Exec& exec, std::int64_t tile, int rounds) const {
    SCOPED_TRACE(tilefold::test::seed());
    shape_stream bits(tilefold::test::seed());
    const auto all = static_cast<std::int64_t>(items().size());
    for (const std::int64_t offset : {0, 1, 3}) {
      // Memory ends where the items end. Aligned loads also take what lies in front of them.
      tilefold::test::gpu_array<T> memory(all + offset);
      memory.assign(items().data(), offset, 0);
      memory.assign(items().data(), all, offset);
      for (int i = 0; i < rounds; ++i) {
        const auto any_end = [&] {
          const std::int64_t unit = bits.one_in(2) ? tile : std::int64_t{1} << bits.below(20);
          const std::int64_t near = bits.below(all / unit + 1) * unit + bits.below(9) - 4;
          return bits.one_in(3) ? bits.below(all + 1)
                                : tilefold::detail::bounded(near, std::int64_t{0}, all);
        };
        std::int64_t begin = any_end();
        std::int64_t end = bits.one_in(4) ? begin + bits.below(100) : any_end();
        if (begin > end) std::swap(begin, end);
        if (end > all) end = all;
        expect_piece(exec, memory.data() + offset, begin, end,
                     bits.one_in(2) ? 0 : bits.below(1000) << 40);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }

 private:
  Op op_;
  std::vector<std::vector<T>> levels_;
};

TEST(CudaPiece, BlocksAreNodesOfTheWhole) {
  const nodes_of hashes(tilefold::test::leaf_hashes(1 << 20), node_hash{});
  tilefold::cuda_executor gpu;
  hashes.expect_pieces(gpu, 8192, 150);
  const nodes_of floats(mixed_floats(3000000), tilefold::plus{});
  floats.expect_pieces(gpu, 8192, 150);
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
  expect_pieces_of_structs<std::uint64_t, 4>(1200000, 2048, 60);
  expect_pieces_of_structs<std::uint32_t, 20>(100000, 512, 60);
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
    gpu.fold_blocks_into<tilefold::detail::default_policy>(
        tilefold::detail::source<const float*>{{memory.data() + begin}}, sums, begin, n,
        out.data());
    tilefold::test::must(cudaStreamEndCapture(stream, &graph));
    std::size_t nodes = 0;
    tilefold::test::must(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT_EQ(nodes, 1u) << n << " items from " << begin;
    tilefold::test::must(cudaGraphDestroy(graph));
    EXPECT_EQ(gpu.workspace_bytes(), workspace.size() / 256 * 256);
    gpu.synchronize();
  }
}

TEST(CudaPiece, IndicesCountInTheWhole) {
  const auto x = mixed_floats(items);
  const thrust::device_vector<float> on_gpu(x);
  const float* const first = on_gpu.data().get();
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
