// SPDX-License-Identifier: Apache-2.0
//
// Ranges that a GPU adds to an exact accumulator: 10^6 multisets in random order and pieces, each
// added by a GPU, by a GPU over host memory or by the host, have the bytes of one accumulator that
// is given the items one by one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/host.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/streamed.cuh>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "many_items.hpp"

namespace tilefold {
namespace {

using test::gpu_array;
using test::random_cuts;

template <class T>
exact_accumulator<T> one_by_one(const std::vector<T>& items) {
  exact_accumulator<T> sum;
  for (const T x : items) sum.add(x);
  return sum;
}

template <class T>
std::vector<T> multiset(int number, std::mt19937_64& random) {
  const int n = 1 + static_cast<int>(random() % 40);
  if constexpr (std::is_integral_v<T>) {
    return test::any_items<T>(0, static_cast<std::size_t>(n), random);
  } else {
    return test::random_multiset<T>(static_cast<test::exact_kind>(number % test::num_exact_kinds),
                                    n, random);
  }
}

template <class T>
class CudaExactParts : public testing::Test {};
using summed_types =
    testing::Types<float, double, half, bfloat16, std::int32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(CudaExactParts, summed_types);

TYPED_TEST(CudaExactParts, MultisetsInRandomOrderAndPieces) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  constexpr int count = 143000;  // of each of seven types
  std::vector<T> items;
  std::vector<std::size_t> bounds{0};
  std::vector<exact_accumulator<T>> expected;
  for (int m = 0; m < count; ++m) {
    auto mine = multiset<T>(m, random);
    expected.push_back(one_by_one(mine));
    std::shuffle(mine.begin(), mine.end(), random);
    items.insert(items.end(), mine.begin(), mine.end());
    bounds.push_back(items.size());
  }
  const gpu_array<T> on_gpu(items);
  cuda_executor gpu;
  for (std::size_t m = 0; m < count; ++m) {
    const T* const first = on_gpu.data() + bounds[m];
    const auto cuts =
        random_cuts(bounds[m + 1] - bounds[m], 1 + static_cast<int>(random() % 4), random);
    std::vector<exact_accumulator<T>> pieces(cuts.size() - 1);
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      pieces[p].add(gpu, first + cuts[p], first + cuts[p + 1]);
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    exact_accumulator<T> merged;
    for (const auto& piece : pieces) {
      merged.merge(random() % 2 == 0 ? piece : exact_accumulator<T>::from_bytes(piece.to_bytes()));
    }
    ASSERT_EQ(merged, expected[m]) << m;
    ASSERT_EQ(merged.to_bytes(), expected[m].to_bytes()) << m;
  }
}

// Of a block, a cluster, a grid, and long ranges; whole, and by three executors.
TYPED_TEST(CudaExactParts, LongOnesByEveryExecutor) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (const std::size_t n : {3000u, 20'000u, 300'000u, (1u << 22) + 77}) {
    SCOPED_TRACE(n);
    auto items = test::any_items<T>(test::num_exact_kinds, n, random);
    const auto expected = one_by_one(items).to_bytes();
    std::shuffle(items.begin(), items.end(), random);
    const gpu_array<T> on_gpu(items);
    exact_accumulator<T> whole;
    whole.add(gpu, on_gpu);
    ASSERT_EQ(whole.to_bytes(), expected);
    const auto cuts = random_cuts(n, 3, random);
    exact_accumulator<T> sum;
    sum.add(host_executor(), items.data() + cuts[2], items.data() + cuts[3]);
    sum.add(gpu, on_gpu.data() + cuts[0], on_gpu.data() + cuts[1]);
    sum.add(streamed(gpu, 1 << 16), items.data() + cuts[1], items.data() + cuts[2]);
    ASSERT_EQ(sum.to_bytes(), expected);
  }
}

// A GPU adds what is not finite to sums of its own, where it takes others along: no byte may tell.
TYPED_TEST(CudaExactParts, NotFiniteAmongOthers) {
  using T = TypeParam;
  if constexpr (!std::is_integral_v<T>) {
    std::mt19937_64 random(test::seed());
    cuda_executor gpu;
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const std::size_t n : {3000u, 300'000u, (1u << 22) + 77}) {
      for (const std::vector<float>& rare : std::vector<std::vector<float>>{
               {infinity}, {-infinity}, {infinity, -infinity}, {nan}, {-infinity, nan}}) {
        auto items = test::any_items<T>(test::num_exact_kinds, n, random);
        for (const float x : rare) items[random() % n] = static_cast<T>(x);
        exact_accumulator<T> expected;
        expected.add(items.begin(), items.end());
        const gpu_array<T> on_gpu(items);
        const auto cut = static_cast<std::int64_t>(random() % (n / 8));
        exact_accumulator<T> sum;
        sum.add(gpu, on_gpu.begin() + cut, on_gpu.end());
        sum.add(gpu, on_gpu.begin(), on_gpu.begin() + cut);
        ASSERT_EQ(sum, expected) << n << ", " << rare[0];
        ASSERT_EQ(sum.to_bytes(), expected.to_bytes()) << n << ", " << rare[0];
      }
    }
  }
}

TEST(CudaExactPartsOfFloats, SanitizeAdd) {
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (const std::size_t n : {1u, 1001u, 20'001u, 140'001u}) {
    const auto items = test::any_items<float>(test::num_exact_kinds, n, random);
    const gpu_array<float> on_gpu(items);
    exact_accumulator<float> sum;
    sum.add(gpu, on_gpu);
    EXPECT_EQ(sum.to_bytes(), one_by_one(items).to_bytes()) << n;
  }
}

TEST(CudaExactPartsOfFloats, WhatIsNotFiniteNothingAndErrors) {
  cuda_executor gpu;
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float one : {-0.0f, 0.0f, infinity, -infinity, nan}) {
    for (const std::size_t n : {2u, 5000u}) {
      std::vector<float> items(n, -0.0f);
      items[n / 2] = one;
      const gpu_array<float> on_gpu(items);
      exact_accumulator<float> sum;
      sum.add(gpu, on_gpu);
      EXPECT_EQ(sum.to_bytes(), one_by_one(items).to_bytes()) << n << ", " << one;
      const auto before = sum;
      sum.add(gpu, on_gpu.data(), on_gpu.data());
      EXPECT_EQ(sum, before);
      EXPECT_THROW(sum.add(gpu, on_gpu.data() + 2, on_gpu.data()), invalid_range_error);
      const float* const null = nullptr;
      EXPECT_THROW(sum.add(gpu, null, null + 3), null_pointer_error);
      EXPECT_EQ(sum, before);
    }
  }
}

}  // namespace
}  // namespace tilefold
