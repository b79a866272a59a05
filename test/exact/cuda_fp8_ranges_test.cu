// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on a GPU of CUDA's types of 8 bits: ranges of many sizes and runs of keys against
// the host, which fp8_nogpu_test.cu compares with integers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "cuda_fp8.cuh"
#include "fp8_items.hpp"

namespace tilefold {
namespace {

TYPED_TEST_SUITE(CudaExactFp8, types_of_8_bits);

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
    same(r::exact_sum<double>{});
    same(r::exact_mean<float>{});
    same(r::exact_l2<double>{});
    ASSERT_EQ(bits_of(transform_reduce(gpu, first, last, x.data(), r::exact_dot<double>{})),
              bits_of(tilefold::transform_reduce(part.begin(), part.end(), items.begin(),
                                                 r::exact_dot<double>{})));
  }
}

TYPED_TEST(CudaExactFp8, RunsOfKeys) {
  using T = TypeParam;
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
