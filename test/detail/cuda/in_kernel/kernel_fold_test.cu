// SPDX-License-Identifier: Apache-2.0
//
// warp_fold and warp_fold_each: the tree, in every lane that is to hold it, for groups of 2 to 32
// lanes, every count, several values a lane, several folds at once; groups that part ways; and the
// types of results.
#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/device.cuh"
#include "support/kernel_folds.cuh"

namespace tilefold::test {
namespace {

constexpr int nt = 64;

// ---- the tree

/// Group g of block b folds its first 1 + (b + 5 g) % (all its items) items, all of them by the
/// form without a count; out[b][t] is what thread t holds then.
template <int Lanes, int Vt>
TILEFOLD_HD int count_of(int block, int group) {
  return 1 + (block + 5 * group) % (Lanes * Vt);
}

template <class Case, int Lanes, int Vt, int Folds>
__global__ void fold_groups(typename Case::value* out) {
  using value = typename Case::value;
  using op = typename Case::op;
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const int lane = thread % Lanes;
  const int count = count_of<Lanes, Vt>(static_cast<int>(blockIdx.x), thread / Lanes);
  value values[Folds][Vt];
  for (int k = 0; k < Folds; ++k) {
    for (int j = 0; j < Vt; ++j) values[k][j] = Case::leaf(k, lane * Vt + j);
  }
  // Groups of a warp go different ways here.
  value result;
  if constexpr (Folds > 1) {
    result = count == Lanes * Vt ? warp_fold_each<Lanes>(values, op{})
                                 : warp_fold_each<Lanes>(values, count, op{});
  } else if constexpr (Vt > 1) {
    result = count == Lanes * Vt ? warp_fold<Lanes>(values[0], op{})
                                 : warp_fold<Lanes>(values[0], count, op{});
  } else {
    result = count == Lanes ? warp_fold<Lanes>(values[0][0], op{})
                            : warp_fold<Lanes>(values[0][0], count, op{});
  }
  out[static_cast<int>(blockIdx.x) * nt + thread] = result;
}

template <class Case, int Lanes, int Vt, int Folds>
void expect_trees() {
  SCOPED_TRACE(::testing::Message()
               << Lanes << " lanes, " << Vt << " values, " << Folds << " folds");
  constexpr int blocks = Lanes * Vt;
  const auto trees = expected_trees<Case>(Folds, Lanes * Vt);
  gpu_array<typename Case::value> out(blocks * nt);
  must(cudaMemset(out.data(), 0xee, static_cast<std::size_t>(out.size()) * sizeof(*out.data())));
  fold_groups<Case, Lanes, Vt, Folds><<<blocks, dim3(nt / 2, 2)>>>(out.data());
  must(cudaGetLastError());
  const auto got = out.to_host();
  for (int b = 0; b < blocks; ++b) {
    for (int t = 0; t < nt; ++t) {
      const int k = fold_held_by(t % Lanes, Folds);
      if (k < 0) continue;
      const int count = count_of<Lanes, Vt>(b, t / Lanes);
      const auto& expected =
          trees[static_cast<std::size_t>(k)][static_cast<std::size_t>(count - 1)];
      ASSERT_EQ(got[static_cast<std::size_t>(b * nt + t)], expected)
          << count << " items, fold " << k << ", thread " << t;
    }
  }
}

template <class Case, int Vt, int Folds, int... Lanes>
void expect_trees_of_groups(std::integer_sequence<int, Lanes...>) {
  (expect_trees<Case, Lanes, Vt, Folds>(), ...);
}
template <class Case, int Lanes, int... FoldsMinusOne>
void expect_trees_of_folds(std::integer_sequence<int, FoldsMinusOne...>) {
  (expect_trees<Case, Lanes, 1, FoldsMinusOne + 1>(), ...);
}

using all_groups = std::integer_sequence<int, 2, 4, 8, 16, 32>;

TEST(WarpFold, IsTheTreeInGroupsOfEverySize) {
  expect_trees_of_groups<short_hash_case, 1, 1>(all_groups{});
  expect_trees_of_groups<long_hash_case, 1, 1>(all_groups{});
  expect_trees_of_groups<swappable_hash_case, 1, 1>(all_groups{});
}

TEST(WarpFold, TakesSeveralValuesALane) {
  expect_trees_of_groups<short_hash_case, 2, 1>(all_groups{});
  expect_trees_of_groups<short_hash_case, 4, 1>(all_groups{});
  expect_trees_of_groups<short_hash_case, 8, 1>(all_groups{});
}

TEST(WarpFoldEach, IsEveryTreeOfOneToEightFolds) {
  expect_trees_of_folds<short_hash_case, 32>(std::make_integer_sequence<int, 8>{});
  expect_trees_of_folds<short_hash_case, 8>(std::make_integer_sequence<int, 8>{});
  expect_trees_of_folds<short_hash_case, 4>(std::make_integer_sequence<int, 4>{});
  expect_trees_of_folds<short_hash_case, 2>(std::make_integer_sequence<int, 2>{});
}

TEST(WarpFoldEach, IsEveryTreeOfManyFolds) {
  expect_trees<short_hash_case, 32, 1, 11>();
  expect_trees<short_hash_case, 32, 1, 31>();
  expect_trees<short_hash_case, 32, 1, 32>();
  expect_trees<short_hash_case, 16, 1, 16>();
}

TEST(WarpFoldEach, IsEveryTreeInOtherAccumulators) {
  expect_trees<long_hash_case, 32, 1, 3>();
  expect_trees<long_hash_case, 16, 1, 4>();
  expect_trees<swappable_hash_case, 32, 1, 7>();
}

TEST(WarpFoldEach, TakesSeveralValuesALane) {
  expect_trees<short_hash_case, 32, 4, 4>();
  expect_trees<short_hash_case, 8, 2, 5>();
  expect_trees<short_hash_case, 16, 8, 2>();
}

// ---- groups that part ways

__global__ void fold_in_odd_groups(int* out) {
  const int thread = static_cast<int>(threadIdx.x);
  out[thread] = -1;
  if (thread / 8 % 2 == 1) out[thread] = warp_fold<8>(thread, std::plus<>{});
}

TEST(WarpFold, NeedsTheLanesOfItsGroupOnly) {
  gpu_array<int> out(nt);
  fold_in_odd_groups<<<1, nt>>>(out.data());
  must(cudaGetLastError());
  const auto got = out.to_host();
  for (int t = 0; t < nt; ++t) {
    const int first = t / 8 * 8;
    EXPECT_EQ(got[static_cast<std::size_t>(t)], t / 8 % 2 == 1 ? 8 * first + 28 : -1) << t;
  }
}

// ---- a last warp that lacks lanes

__global__ void fold_rest(int* out) {
  const int present = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const int sum = warp_fold(thread, present, std::plus<>{});
  const std::uint32_t hash =
      warp_fold(short_hash_case::leaf(0, thread), present, short_node_hash{});
  out[2 * thread] = sum;
  out[2 * thread + 1] = static_cast<int>(hash);
}

TEST(WarpFold, CountsLanesThatAreNotThereAsLanesWithoutItems) {
  const auto trees = expected_trees<short_hash_case>(1, 31);
  for (int present = 1; present < 32; ++present) {
    gpu_array<int> out(2 * present);
    fold_rest<<<1, present>>>(out.data());
    must(cudaGetLastError());
    const auto got = out.to_host();
    const auto hash = static_cast<int>(trees[0][static_cast<std::size_t>(present - 1)]);
    for (std::size_t t = 0; t < static_cast<std::size_t>(present); ++t) {
      EXPECT_EQ(got[2 * t], present * (present - 1) / 2) << present;
      EXPECT_EQ(got[2 * t + 1], hash) << present;
    }
  }
}

// ---- 32-bit integers take one instruction

template <class T, class Op>
__global__ void fold_integers(const T* items, T* out) {
  const T mine = items[threadIdx.x];
  for (int n = 1; n < 32; ++n) {
    const T part = warp_fold(mine, n, Op{});
    if (threadIdx.x == static_cast<unsigned>(n)) out[n - 1] = part;
  }
  const T whole = warp_fold(mine, Op{});
  if (threadIdx.x == 7) out[31] = whole;
}

template <class T, class Op>
void expect_bits_of_reduce() {
  std::vector<T> items;
  for (int i = 0; i < 32; ++i) items.push_back(short_hash_case::leaf(0, i));
  const gpu_array<T> device_items(items);
  gpu_array<T> out(32);
  fold_integers<T, Op><<<1, 32>>>(device_items.data(), out.data());
  must(cudaGetLastError());
  const auto got = out.to_host();
  for (std::size_t n = 1; n <= 32; ++n) {
    EXPECT_EQ(got[n - 1], reduce(host_executor(), items.data(), items.data() + n, Op{})) << n;
  }
}

template <class T>
void expect_bits_of_every_operator() {
  expect_bits_of_reduce<T, plus>();
  expect_bits_of_reduce<T, multiplies>();
  expect_bits_of_reduce<T, minimum>();
  expect_bits_of_reduce<T, maximum>();
  expect_bits_of_reduce<T, minimum_number>();
  expect_bits_of_reduce<T, maximum_number>();
  expect_bits_of_reduce<T, bit_and>();
  expect_bits_of_reduce<T, bit_or>();
  expect_bits_of_reduce<T, bit_xor>();
}

TEST(WarpFold, OfIntegersHasTheBitsOfReduce) {
  expect_bits_of_every_operator<std::int32_t>();
  expect_bits_of_every_operator<std::uint32_t>();
  expect_bits_of_every_operator<std::int64_t>();
}

// ---- types

__global__ void fold_types(double* out) {
  const auto from_bytes = warp_fold(static_cast<std::int8_t>(100), std::plus<>{});
  static_assert(std::same_as<decltype(from_bytes), const std::int32_t>);
  const auto from_half = warp_fold(static_cast<half>(2048.0f), plus{});
  static_assert(std::same_as<decltype(from_half), const float>);
  const auto named = warp_fold(0.1f, std::plus<double>{});
  static_assert(std::same_as<decltype(named), const double>);
  const auto votes = warp_fold(threadIdx.x == 3, plus{});
  static_assert(std::same_as<decltype(votes), const std::int64_t>);
  const auto any = warp_fold(threadIdx.x == 3, std::logical_or<>{});
  static_assert(std::same_as<decltype(any), const bool>);
  const auto lambda =
      warp_fold(threadIdx.x + 1.0, [](double a, double b) { return a < b ? b : a; });
  static_assert(std::same_as<decltype(lambda), const double>);
  if (threadIdx.x != 0) return;
  out[0] = from_bytes;
  out[1] = from_half;
  out[2] = named;
  out[3] = static_cast<double>(votes);
  out[4] = any;
  out[5] = lambda;
}

static_assert(std::same_as<folded_t<std::uint8_t, std::plus<>>, std::uint32_t>);
static_assert(std::same_as<folded_t<half, maximum>, half>);

TEST(WarpFold, AccumulatesInWhatReduceAccumulatesIn) {
  gpu_array<double> out(6);
  fold_types<<<1, 32>>>(out.data());
  must(cudaGetLastError());
  const double tenth = 0.1f;
  EXPECT_EQ(out.to_host(), (std::vector<double>{3200, 65536, 32 * tenth, 1, 1, 32}));
}

}  // namespace
}  // namespace tilefold::test
