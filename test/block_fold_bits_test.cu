// SPDX-License-Identifier: Apache-2.0
//
// block_fold has the bits of reduce(), calls the operator with neighbours alone, and is not fused
// with what stands around it.
#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducer.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/device.cuh"
#include "support/kernel_folds.cuh"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

__device__ int linear_thread() {
  return static_cast<int>((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
}

template <int Nt, class Acc, class T, class Op>
__global__ void __launch_bounds__(Nt) fold_array(const T* items, int count, Op op, Acc* out) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& storage = *reinterpret_cast<block_storage<Nt, Acc>*>(memory);
  const int thread = linear_thread();
  const T mine = thread < count ? items[thread] : T{};
  const Acc part = block_fold(storage, mine, count, op);
  __syncthreads();
  if (thread == 0) out[0] = part;
  if (count == Nt) {
    const Acc whole = block_fold(storage, mine, op);
    if (thread == 0) out[0] = whole;
  }
}

template <int Nt, class Acc, class T, class Op>
std::vector<Acc> folds_of_prefixes(const std::vector<T>& items, Op op) {
  const gpu_array<T> device_items(items);
  gpu_array<Acc> out(Nt);
  for (int n = 1; n <= Nt; ++n) {
    fold_array<Nt, Acc>
        <<<1, Nt, sizeof(block_storage<Nt, Acc>)>>>(device_items.data(), n, op, out.data() + n - 1);
  }
  must(cudaGetLastError());
  return out.to_host();
}

template <int Nt, class T, class Op>
void expect_bits_of_reduce(const std::vector<T>& items, Op op) {
  using acc = folded_t<T, Op>;
  const auto got = folds_of_prefixes<Nt, acc>(items, op);
  for (std::size_t n = 1; n <= static_cast<std::size_t>(Nt); ++n) {
    const acc expected = reduce(host_executor(), items.data(), items.data() + n, op);
    ASSERT_EQ(std::memcmp(&got[n - 1], &expected, sizeof expected), 0)
        << n << " of " << Nt << " items";
  }
}

template <class T>
std::vector<T> mixed_reals(int n) {
  std::vector<T> items;
  shape_stream bits(seed());
  for (int i = 0; i < n; ++i) {
    const double significand = 1 + static_cast<double>(bits() >> 11) * 0x1p-53;
    const int exponent = static_cast<int>(bits() % 24) - 12;
    items.push_back(static_cast<T>(
        static_cast<float>(std::ldexp(bits() % 2 == 0 ? significand : -significand, exponent))));
  }
  return items;
}

template <class T>
std::vector<T> mixed_integers(int n) {
  std::vector<T> items;
  shape_stream bits(seed());
  for (int i = 0; i < n; ++i) items.push_back(static_cast<T>(bits()));
  return items;
}

TEST(BlockFoldBits, OfRealsHasTheBitsOfReduce) {
  expect_bits_of_reduce<256>(mixed_reals<float>(256), plus{});
  expect_bits_of_reduce<100>(mixed_reals<float>(100), std::plus<>{});
  expect_bits_of_reduce<250>(mixed_reals<float>(250), std::plus<double>{});
  expect_bits_of_reduce<768>(mixed_reals<double>(768), plus{});
  expect_bits_of_reduce<128>(mixed_reals<half>(128), plus{});
  expect_bits_of_reduce<256>(mixed_reals<float>(256), multiplies{});
}

TEST(BlockFoldBits, OfNansInfinitiesAndZerosHasTheBitsOfReduce) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(),
                          -std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, -0.0f}) {
    for (const std::size_t at : {0u, 1u, 31u, 70u, 99u}) {
      std::vector<float> items = mixed_reals<float>(100);
      items[at] = odd;
      items[(at + 50) % 100] = -infinity;
      expect_bits_of_reduce<100>(items, plus{});
      expect_bits_of_reduce<100>(items, minimum{});
      expect_bits_of_reduce<100>(items, maximum_number{});
    }
  }
  expect_bits_of_reduce<64>(std::vector<float>(64, -0.0f), plus{});
}

/// Passes on what it is given, bit by bit.
struct last {
  TILEFOLD_HD float operator()(float, float b) const { return b; }
};

TEST(BlockFoldBits, OfNansOfEveryKindAndOfSubnormalsHasTheBitsOfReduce) {
  const auto filled = [](std::uint32_t bits) {
    return std::vector<float>(70, __builtin_bit_cast(float, bits));
  };
  // Quiet and signalling, of either sign, with the least and the most in them; no NaNs beside them.
  for (const std::uint32_t bits : {0x7fc00001u, 0x7fffffffu, 0x7f800001u, 0xffc00000u, 0xff800001u,
                                   0xffffffffu, 0x7f800000u, 0xff800000u, 0x7f7fffffu}) {
    expect_bits_of_reduce<70>(filled(bits), last{});
  }
  for (const std::uint32_t bits : {0x00000001u, 0x80000001u, 0x807fffffu, 0x80000000u}) {
    expect_bits_of_reduce<70>(filled(bits), last{});
    expect_bits_of_reduce<70>(filled(bits), plus{});
  }
}

template <class T>
void expect_bits_of_integers() {
  expect_bits_of_reduce<160>(mixed_integers<T>(160), plus{});
  expect_bits_of_reduce<96>(mixed_integers<T>(96), multiplies{});
  expect_bits_of_reduce<100>(mixed_integers<T>(100), minimum{});
  expect_bits_of_reduce<64>(mixed_integers<T>(64), maximum{});
  expect_bits_of_reduce<20>(mixed_integers<T>(20), bit_and{});
  expect_bits_of_reduce<512>(mixed_integers<T>(512), bit_or{});
  expect_bits_of_reduce<33>(mixed_integers<T>(33), bit_xor{});
}

TEST(BlockFoldBits, OfIntegersHasTheBitsOfReduce) {
  expect_bits_of_integers<std::int32_t>();
  expect_bits_of_integers<std::uint32_t>();
  expect_bits_of_integers<std::int64_t>();
  expect_bits_of_integers<std::int8_t>();
}

// ---- operators

/// Sums non-negative numbers, and tells if it is called with anything else.
struct watchful_plus {
  int* alarm;
  __device__ int operator()(int a, int b) const {
    if (a < 0 || b < 0) *alarm = 1;
    return a + b;
  }
};

template <int Nt>
__global__ void __launch_bounds__(Nt) fold_with_absent_items(int* alarm, int* sums) {
  __shared__ block_storage<Nt, int> storage;
  const int count = static_cast<int>(blockIdx.x) + 1;
  const int thread = linear_thread();
  const int sum = block_fold(storage, thread < count ? thread : -1, count, watchful_plus{alarm});
  if (thread == 0) sums[blockIdx.x] = sum;
}

template <int Nt>
void expect_no_alarm() {
  const gpu_array<int> alarm(std::vector<int>{0});
  gpu_array<int> sums(Nt);
  fold_with_absent_items<Nt><<<Nt, Nt>>>(alarm.data(), sums.data());
  must(cudaGetLastError());
  const auto got = sums.to_host();
  for (int n = 1; n <= Nt; ++n) EXPECT_EQ(got[static_cast<std::size_t>(n - 1)], n * (n - 1) / 2);
  EXPECT_EQ(alarm.to_host()[0], 0) << Nt << " threads";
}

TEST(BlockFoldBits, NeverCallsTheOperatorWithAnItemBeyondTheCount) {
  expect_no_alarm<24>();
  expect_no_alarm<128>();
  expect_no_alarm<300>();
}

/// Joins runs of numbers, and tells if they are not neighbours.
struct run {
  int first, last;
};
struct watchful_join {
  int* alarm;
  __device__ run operator()(const run& a, const run& b) const {
    if (a.last + 1 != b.first) *alarm = 1;
    return {a.first, b.last};
  }
};

/// Block b folds all items, and then its first b + 1.
template <int Nt>
__global__ void __launch_bounds__(Nt) join_runs(int* alarm, run* out) {
  __shared__ block_storage<Nt, run> storage;
  const int thread = linear_thread();
  const int count = static_cast<int>(blockIdx.x) + 1;
  const run mine{thread, thread};
  const run whole = block_fold(storage, mine, watchful_join{alarm});
  const run row = warp_fold(mine, watchful_join{alarm});
  __syncthreads();
  const run part = block_fold(storage, mine, count, watchful_join{alarm});
  if (thread < 32 && (part.first != 0 || part.last != count - 1)) *alarm = 2;
  if (row.first != thread / 32 * 32 || row.last != row.first + 31) *alarm = 3;
  if (thread == 0) out[blockIdx.x] = whole;
}

template <int Nt>
void expect_runs_joined() {
  const gpu_array<int> alarm(std::vector<int>{0});
  gpu_array<run> out(Nt);
  join_runs<Nt><<<Nt, Nt>>>(alarm.data(), out.data());
  must(cudaGetLastError());
  for (const run& whole : out.to_host()) EXPECT_TRUE(whole.first == 0 && whole.last == Nt - 1);
  EXPECT_EQ(alarm.to_host()[0], 0) << Nt << " threads";
}

TEST(BlockFoldBits, CallsTheOperatorWithNeighboursAlone) {
  expect_runs_joined<64>();
  expect_runs_joined<256>();
}

__global__ void fold_nothing(float* reals, int* integers) {
  __shared__ block_storage<64, float> real;
  __shared__ block_storage<64, int> integer;
  const float sum = block_fold(real, 7.0f, 0, plus{});
  const int least = block_fold(integer, 7, 0, minimum{});
  if (threadIdx.x < 32) {
    reals[threadIdx.x] = sum;
    integers[threadIdx.x] = least;
  }
}

TEST(BlockFoldBits, OfNothingIsTheIdentity) {
  gpu_array<float> reals(32);
  gpu_array<int> integers(32);
  fold_nothing<<<1, 64>>>(reals.data(), integers.data());
  must(cudaGetLastError());
  for (const float zero : reals.to_host()) EXPECT_TRUE(zero == 0 && std::signbit(zero));
  for (const int least : integers.to_host()) EXPECT_EQ(least, std::numeric_limits<int>::max());
}

/// Ends with a product that a compiler would like to fuse with the sum of the next call.
struct scaled_sum {
  TILEFOLD_HD float operator()(float a, float b) const {
#if defined(__CUDA_ARCH__)
    return (a + b) * 1.1f;
#else
    const volatile float sum = a + b;
    const volatile float product = sum * 1.1f;
    return product;
#endif
  }
};

/// The same as a reducer, whose lift leaves the items as they are.
struct scaled_sum_reducer : scaled_sum {
  using reducer_concept = reducer_tag;
  TILEFOLD_HD float lift(float x) const { return x; }
  TILEFOLD_HD float combine(float a, float b) const { return (*this)(a, b); }
  TILEFOLD_HD float project(float x) const { return x; }
};

/// out[0] is the fold of all products x[i] * y[i], out[1] that and one addition, and out[2] the
/// fold of the first warp's products.
template <class Op>
__global__ void fold_products(const float* x, const float* y, float* out) {
  __shared__ block_storage<128, float> storage;
  const float offset = y[0];
  float values[4];
  for (int j = 0; j < 4; ++j) values[j] = x[threadIdx.x * 4 + j] * y[threadIdx.x * 4 + j];
  const float result = block_fold(storage, values, Op{});
  if (threadIdx.x == 0) out[0] = result;
  if (threadIdx.x == 0) out[1] = result + offset;
  const float of_warp = warp_fold(values, Op{});
  if (threadIdx.x == 0) out[2] = of_warp;
}

template <class Op>
std::vector<float> folds_of_products(const std::vector<float>& x, const std::vector<float>& y) {
  const gpu_array<float> device_x(x);
  const gpu_array<float> device_y(y);
  gpu_array<float> out(3);
  fold_products<Op><<<1, 128>>>(device_x.data(), device_y.data(), out.data());
  must(cudaGetLastError());
  return out.to_host();
}

template <class Op>
void expect_no_fusion() {
  const auto x = mixed_reals<float>(512);
  auto y = mixed_reals<float>(512);
  for (float& v : y) v += 0.3f;
  std::vector<float> products;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const volatile float product = x[i] * y[i];
    products.push_back(static_cast<float>(product));
  }
  const float expected = neighbour_tree(scaled_sum{}, products);
  const volatile float and_offset = expected + y[0];
  products.resize(128);
  const float of_warp = neighbour_tree(scaled_sum{}, products);
  EXPECT_EQ(folds_of_products<Op>(x, y), (std::vector<float>{expected, and_offset, of_warp}));

  // Halves that cancel out, unless the last product of one is not rounded.
  for (int level = 0; level < 9; ++level) {
    std::vector<float> halves;
    std::vector<float> factors;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t in_half = i % (std::size_t{1} << level);
      halves.push_back((i >> level & 1) == 0 ? x[in_half] : -x[in_half]);
      factors.push_back(y[in_half]);
    }
    auto folds = folds_of_products<Op>(halves, factors);
    if (level >= 7) folds[2] = 0;  // A warp holds but one half.
    EXPECT_EQ(folds, (std::vector<float>{0, y[0], 0})) << level;
  }
}

TEST(BlockFoldBits, IsNotFusedWithWhatStandsAroundIt) {
  expect_no_fusion<scaled_sum>();
  expect_no_fusion<scaled_sum_reducer>();
}

}  // namespace
}  // namespace tilefold::test
