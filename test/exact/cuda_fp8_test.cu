// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on a GPU of CUDA's types of 8 bits: all pairs of values against integers, by
// segment, by column and by deposit. (cuda_fp8_ranges_test.cu has ranges and runs of keys.)

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda/std/mdspan>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/deposit.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
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

}  // namespace
}  // namespace tilefold
