// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on a GPU of CUDA's types of 8 bits: all pairs of values against integers, by
// segment, by column and by deposit; ranges of many sizes and runs of keys against the host, which
// fp8_nogpu_test.cu compares with integers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include <cuda/std/mdspan>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/deposit.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "cuda_fp8.cuh"
#include "fp8_items.hpp"

namespace tilefold {
namespace {

TYPED_TEST_SUITE(CudaExactFp8, types_of_8_bits);

template <class T>
__global__ void deposit_pairs(const T* pairs, int n, exact_accumulator<T>* sums) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) deposit(sums + i / 2, pairs[i]);
}

template <class T>
std::vector<T> expected_of(const std::vector<T>& pairs) {
  std::vector<T> expected;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    expected.push_back(test::sum_of_fp8(std::vector<T>{pairs[i], pairs[i + 1]}));
  }
  return expected;
}

template <class T>
void expect_equal(const std::vector<T>& got, const std::vector<T>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(bits_of(got[i]), bits_of(expected[i])) << i;
  }
}

TYPED_TEST(CudaExactFp8, AllPairs) {
  using T = TypeParam;
  cuda_executor gpu;
  const auto pairs = test::all_pairs_of_fp8<T>();
  const std::size_t count = pairs.size() / 2;
  const auto expected = expected_of(pairs);
  test::gpu_array<T> items(pairs);
  test::gpu_array<T> sums(count);
  segmented_reduce_into(gpu, items.data(), static_cast<std::int64_t>(count), 2, sums.data(),
                        r::exact_sum{});
  ASSERT_NO_FATAL_FAILURE(expect_equal(sums.to_host(), expected));
  // The first of each pair in row 0, the second in row 1.
  std::vector<T> rows(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) rows[i % 2 * count + i / 2] = pairs[i];
  namespace mds = cuda::std;
  test::gpu_array<T> matrix(rows);
  axis_reduce(gpu, mds::mdspan<const T, mds::dextents<std::size_t, 2>>(matrix.data(), 2, count),
              mds::mdspan<T, mds::dextents<std::size_t, 1>>(sums.data(), count), 0, r::exact_sum{});
  ASSERT_NO_FATAL_FAILURE(expect_equal(sums.to_host(), expected));
  const test::gpu_array<exact_accumulator<T>> deposits{std::vector<exact_accumulator<T>>(count)};
  const int n = static_cast<int>(pairs.size());
  deposit_pairs<<<(n + 255) / 256, 256>>>(items.data(), n, deposits.data());
  const auto got = deposits.to_host();
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(bits_of(got[i].value()), bits_of(expected[i])) << i;
  }
}

TYPED_TEST(CudaExactFp8, Ranges) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (const std::size_t n : {1u, 31u, 1000u, 8193u, 100'000u, 100'003u, (1u << 22) + 77}) {
    // A NaN or an infinity is in every second one.
    const auto items = test::fp8_items<T>(n + 3, n % 2 == 0 ? 1000 : 0, random);
    const std::vector<T> part(items.begin() + 3, items.end());
    test::gpu_array<T> x(items);
    T* const first = x.data() + 3;
    const auto last = first + static_cast<std::ptrdiff_t>(n);
    SCOPED_TRACE(n);
    ASSERT_EQ(bits_of(reduce(gpu, first, last, r::exact_sum{})), bits_of(test::sum_of_fp8(part)));
    const auto same = [&](auto reducer) {
      ASSERT_EQ(bits_of(reduce(gpu, first, last, reducer)),
                bits_of(tilefold::reduce(part, reducer)));
    };
    // An item is converted in one way for all of them: each has one of the types.
    if constexpr (std::is_same_v<T, __nv_fp8_e5m2>) {
      same(r::exact_sum<double>{});
      same(r::exact_l2<double>{});
    } else {
      same(r::exact_mean<float>{});
      ASSERT_EQ(bits_of(transform_reduce(gpu, first, last, x.data(), r::exact_dot<double>{})),
                bits_of(tilefold::transform_reduce(part.begin(), part.end(), items.begin(),
                                                   r::exact_dot<double>{})));
    }
  }
}

TEST(CudaExactFp8OfTwoBits, RunsOfKeys) {
  using T = __nv_fp8_e5m2;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const auto items = test::fp8_items<T>(30'000, 300, random);
  std::vector<int> keys(items.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i / 37);
  const test::gpu_array<int> k(keys);
  test::gpu_array<int> keys_out(keys.size());
  test::gpu_array<T> x(items);
  test::gpu_array<T> sums(keys.size());
  const std::int64_t runs = reduce_by_key(gpu, k.data(), k.data() + k.size(), x.data(),
                                          keys_out.data(), sums.data(), r::exact_sum{});
  ASSERT_EQ(runs, static_cast<std::int64_t>((items.size() + 36) / 37));
  const auto got = sums.to_host();
  for (std::size_t s = 0; s < static_cast<std::size_t>(runs); ++s) {
    const auto begin = items.begin() + static_cast<std::ptrdiff_t>(37 * s);
    const std::vector<T> run(begin, begin + std::min<std::ptrdiff_t>(37, items.end() - begin));
    ASSERT_EQ(bits_of(got[s]), bits_of(test::sum_of_fp8(run))) << s;
  }
}

}  // namespace
}  // namespace tilefold
