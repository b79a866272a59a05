// SPDX-License-Identifier: Apache-2.0
//
// Pieces that a GPU folds have the bits of those of the host, whatever their position, and merge
// with them.
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
TEST(CudaPiece, Statistics) { expect_pieces_of_the_host(mixed_floats(items), r::variance{}); }

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
