// SPDX-License-Identifier: Apache-2.0
//
// deposit() from kernels: the bytes of accumulators that any threads in any order have added to,
// against those of one thread on the host, which others compare with MPFR.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/deposit.cuh>
#include <tilefold/half.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "many_items.hpp"
#include "random_items.hpp"

namespace tilefold {
namespace {

template <class T>
using sums = std::vector<exact_accumulator<T>>;

template <class T, class U>
__global__ void deposit_each(exact_accumulator<T>* to, const int* places, const U* items, int n) {
  const int step = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += step) {
    deposit(to + places[i], items[i]);
  }
}

struct launch_shape {
  int blocks, threads;
};

/// What `before` becomes when item i is deposited into accumulator places[i].
template <class T, class U>
sums<T> deposited(const sums<T>& before, const std::vector<int>& places,
                  const std::vector<U>& items, launch_shape shape) {
  test::gpu_array<exact_accumulator<T>> to(before);
  const test::gpu_array<int> at(places);
  const test::gpu_array<U> x(items);
  deposit_each<<<shape.blocks, shape.threads>>>(to.data(), at.data(), x.data(),
                                                static_cast<int>(items.size()));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return to.to_host();
}

template <class T, class U>
sums<T> added(sums<T> to, const std::vector<int>& places, const std::vector<U>& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    to[static_cast<std::size_t>(places[i])].add(items[i]);
  }
  return to;
}

template <class T>
void expect_equal(const sums<T>& got, const sums<T>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(got[i] == expected[i]) << "accumulator " << i;  // so its bytes are equal
  }
}

/// Makes some of the items NaN, infinities and zeros of both signs.
template <class T>
void sprinkle(std::vector<T>& items, int one_in, std::mt19937_64& random) {
  if constexpr (!std::is_integral_v<T>) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float special[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 0,
                             -0.0f};
    for (T& x : items) {
      if (random() % static_cast<unsigned>(one_in) == 0) x = static_cast<T>(special[random() % 5]);
    }
  }
}

template <class T>
void shuffle_both(std::vector<int>& places, std::vector<T>& items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    const std::size_t j = random() % i;
    std::swap(places[i - 1], places[j]);
    std::swap(items[i - 1], items[j]);
  }
}

template <class T>
class CudaDeposit : public testing::Test {};
using deposited_types = testing::Types<float, double, half, bfloat16, std::int32_t, std::uint64_t>;
TYPED_TEST_SUITE(CudaDeposit, deposited_types);

TYPED_TEST(CudaDeposit, FromAMillionThreadsInRandomOrder) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  constexpr std::size_t n = 1'000'000;
  for (const unsigned count : {1u, 3u, 1024u, 60'000u}) {
    auto items = test::any_items<T>(test::num_exact_kinds, n, random);
    // Few enough that some accumulators meet none.
    if (count > 1) sprinkle(items, 50'000, random);
    std::vector<int> places(n);
    for (int& place : places) place = static_cast<int>(random() % count);
    const sums<T> nothing(count);
    const sums<T> expected = added(nothing, places, items);
    for (const launch_shape shape : {launch_shape{3907, 256}, {32, 1000}, {977, 1024}}) {
      shuffle_both(places, items, random);
      SCOPED_TRACE(testing::Message() << count << " accumulators, " << shape.threads << " threads");
      expect_equal(deposited(nothing, places, items, shape), expected);
    }
  }
}

// Neighbouring lanes at one accumulator, in groups of every size.
TYPED_TEST(CudaDeposit, OfNeighboursInOneAccumulator) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  for (int kind = 0; kind < test::num_exact_kinds; ++kind) {
    const auto items = test::any_items<T>(kind, 30'000, random);
    for (const int group : {1, 2, 3, 4, 5, 8, 31, 32, 100}) {
      std::vector<int> places(items.size());
      for (std::size_t i = 0; i < places.size(); ++i) {
        places[i] = static_cast<int>(i) / group * 7919 % 1000;
      }
      const sums<T> nothing(1000);
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", groups of " << group);
      expect_equal(deposited(nothing, places, items, {59, 512}), added(nothing, places, items));
    }
  }
}

template <class T>
class CudaDepositOfFloats : public testing::Test {};
using floating_types = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(CudaDepositOfFloats, floating_types);

// Both signs of every exponent, its smallest and its largest number: each word and each carry.
TYPED_TEST(CudaDepositOfFloats, OfEveryBinade) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  std::vector<T> items;
  for (int exponent = 0; exponent < test::float_layout<T>::exponents; ++exponent) {
    for (const bool negative : {false, true}) {
      for (const std::uint64_t fraction : {std::uint64_t{0}, ~std::uint64_t{0}, random()}) {
        items.push_back(test::float_of<T>(negative, exponent, fraction));
      }
    }
  }
  // One accumulator each, and one for all: from below, from above, and as it comes.
  std::vector<int> places(items.size());
  std::iota(places.begin(), places.end(), 0);
  const sums<T> each(items.size());
  expect_equal(deposited(each, places, items, {50, 256}), added(each, places, items));
  std::fill(places.begin(), places.end(), 0);
  for (int order = 0; order < 3; ++order) {
    const sums<T> one(1);
    expect_equal(deposited(one, places, items, {50, 256}), added(one, places, items));
    expect_equal(deposited(one, places, items, {1, 32}), added(one, places, items));
    if (order == 0) std::reverse(items.begin(), items.end());
    if (order == 1) std::shuffle(items.begin(), items.end(), random);
  }
}

// The sum passes zero all the time: carries run through all words, both ways at once.
TYPED_TEST(CudaDepositOfFloats, OfSumsThatChangeTheirSign) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  const T least = test::float_of<T>(false, 0, 1);
  const T most = test::float_of<T>(false, test::float_layout<T>::exponents - 1, ~std::uint64_t{0});
  std::vector<T> items;
  for (int i = 0; i < 50'000; ++i) {
    items.insert(items.end(), {least, test::negated(least), most, test::negated(most)});
  }
  std::vector<int> places(items.size(), 0);
  const sums<T> one(1);
  for (int i = 0; i < 3; ++i) {
    expect_equal(deposited(one, places, items, {200, 1024}), added(one, places, items));
    std::shuffle(items.begin(), items.end(), random);
  }
  items.push_back(test::negated(least));
  places.push_back(0);
  expect_equal(deposited(one, places, items, {200, 1024}), added(one, places, items));
}

TYPED_TEST(CudaDepositOfFloats, OfZerosAndWhatIsNotFinite) {
  using T = TypeParam;
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {0.0f, -0.0f, 1.5f, -1.5f, infinity, -infinity, nan, -nan};
  std::vector<T> items;
  std::vector<int> places;
  int count = 0;
  // 100 of one and one of another, for all pairs.
  for (const float many : values) {
    for (const float one : values) {
      for (int i = 0; i < 101; ++i) {
        items.push_back(static_cast<T>(i == 50 ? one : many));
        places.push_back(count);
      }
      ++count;
    }
  }
  std::mt19937_64 random(test::seed());
  const sums<T> nothing(static_cast<std::size_t>(count) + 1);  // the last one stays as it is
  for (int i = 0; i < 2; ++i) {
    expect_equal(deposited(nothing, places, items, {26, 256}), added(nothing, places, items));
    shuffle_both(places, items, random);
  }
}

// ---- with everything else that an accumulator does

template <class T>
__global__ void merge_pairs(exact_accumulator<T>* to, int pairs, T more) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= pairs) return;
  to[i].merge(to[pairs + i]);
  to[i].add(more);
}

TEST(CudaDepositAndMore, GoesOnFromWhatIsThereAndIsMerged) {
  std::mt19937_64 random(test::seed());
  sums<double> before(2000);
  for (auto& sum : before) sum.add(std::ldexp(static_cast<double>(random()), -1000));
  const auto items = test::any_items<double>(test::num_exact_kinds, 100'000, random);
  std::vector<int> places(items.size());
  for (int& place : places) place = static_cast<int>(random() % before.size());
  sums<double> expected = added(before, places, items);
  for (std::size_t i = 0; i < 1000; ++i) {
    expected[i].merge(expected[1000 + i]);
    expected[i].add(0.1);
  }
  test::gpu_array<exact_accumulator<double>> to(before);
  const test::gpu_array<int> at(places);
  const test::gpu_array<double> x(items);
  deposit_each<<<100, 128>>>(to.data(), at.data(), x.data(), 50'000);
  deposit_each<<<7, 96>>>(to.data(), at.data() + 50'000, x.data() + 50'000, 50'000);
  merge_pairs<<<4, 256>>>(to.data(), 1000, 0.1);
  const sums<double> got = to.to_host();
  expect_equal(got, expected);
  EXPECT_EQ(got[0].to_bytes(), expected[0].to_bytes());
  EXPECT_TRUE(got[0] == exact_accumulator<double>::from_bytes(got[0].to_bytes()));
}

// Where lanes are apart: in branches, loops of different lengths, after others have left.
__global__ void deposit_apart(exact_accumulator<float>* to, const float* items, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  if (i % 3 == 0) {
    deposit(to, items[i]);
  } else if (i % 3 == 1) {
    for (int j = 0; j < i % 5; ++j) deposit(to + j, items[i]);
  } else {
    deposit(i % 2 == 0 ? to + 4 : to, -items[i]);
    if (i % 7 == 2) return;
    deposit(to + 1, items[i]);
  }
}

TEST(CudaDepositAndMore, FromLanesThatAreApart) {
  std::mt19937_64 random(test::seed());
  const int n = 100'001;
  const auto items = test::any_items<float>(test::num_exact_kinds, n, random);
  sums<float> expected(5);
  for (int i = 0; i < n; ++i) {
    const float x = items[static_cast<std::size_t>(i)];
    if (i % 3 == 0) {
      expected[0].add(x);
    } else if (i % 3 == 1) {
      for (int j = 0; j < i % 5; ++j) expected[static_cast<std::size_t>(j)].add(x);
    } else {
      expected[i % 2 == 0 ? 4 : 0].add(-x);
      if (i % 7 != 2) expected[1].add(x);
    }
  }
  test::gpu_array<exact_accumulator<float>> to(sums<float>(5));
  const test::gpu_array<float> x(items);
  deposit_apart<<<400, 256>>>(to.data(), x.data(), n);
  const sums<float> got = to.to_host();
  expect_equal(got, expected);
}

// Items that are exact in the sum, of other types than its own.
TEST(CudaDepositAndMore, TakesNarrowerItems) {
  std::mt19937_64 random(test::seed());
  const auto narrow = [&]<class T, class U>(exact_accumulator<T> sum, const std::vector<U>& items) {
    const sums<T> before(10, sum);
    std::vector<int> places(items.size());
    for (int& place : places) place = static_cast<int>(random() % before.size());
    expect_equal(deposited(before, places, items, {40, 256}), added(before, places, items));
  };
  narrow(exact_accumulator<float>(0.1f), test::any_items<half>(0, 20'000, random));
  narrow(exact_accumulator<float>(), test::any_items<std::int16_t>(0, 20'000, random));
  narrow(exact_accumulator<double>(-0.1), test::any_items<float>(0, 20'000, random));
  narrow(exact_accumulator<double>(), test::any_items<std::int32_t>(0, 20'000, random));
  narrow(exact_accumulator<std::int64_t>(-1), test::any_items<std::uint8_t>(0, 20'000, random));
}

// In a block's shared memory.
__global__ void deposit_in_block(exact_accumulator<float>* to, const float* items, int n) {
  // No array of accumulators: shared memory takes no constructors.
  __shared__ std::uint64_t memory[3 * sizeof(exact_accumulator<float>) / 8];
  auto* const mine = reinterpret_cast<exact_accumulator<float>*>(memory);
  if (threadIdx.x < 3) mine[threadIdx.x] = exact_accumulator<float>{};
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    deposit(mine + i % 3, items[i]);
  }
  __syncthreads();
  if (threadIdx.x < 3) to[threadIdx.x] = mine[threadIdx.x];
}

TEST(CudaDepositAndMore, IntoSharedMemory) {
  std::mt19937_64 random(test::seed());
  const int n = 50'000;
  const auto items = test::any_items<float>(test::num_exact_kinds, n, random);
  sums<float> expected(3);
  for (int i = 0; i < n; ++i) {
    expected[static_cast<std::size_t>(i % 3)].add(items[static_cast<std::size_t>(i)]);
  }
  test::gpu_array<exact_accumulator<float>> to(sums<float>(3));
  const test::gpu_array<float> x(items);
  deposit_in_block<<<1, 736>>>(to.data(), x.data(), n);
  const sums<float> got = to.to_host();
  expect_equal(got, expected);
}

// Small, for tools that watch each access.
TEST(CudaDepositAndMore, SanitizeDeposits) {
  std::mt19937_64 random(test::seed());
  auto items = test::any_items<double>(test::num_exact_kinds, 3000, random);
  sprinkle(items, 100, random);
  std::vector<int> places(items.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = i < 1000 ? 0 : static_cast<int>(i % 9);
  const sums<double> nothing(9);
  expect_equal(deposited(nothing, places, items, {5, 96}), added(nothing, places, items));
}

}  // namespace
}  // namespace tilefold
