// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact products of ranges on a GPU, and of chunks of them that are added in one way
// or another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "cuda_spread.cuh"
#include "cuda_suite.cuh"
#include "many_items.hpp"
#include "random_items.hpp"

namespace tilefold {
namespace {

template <class T>
class CudaExactProducts : public testing::Test {};
TYPED_TEST_SUITE_P(CudaExactProducts);

TYPED_TEST_P(CudaExactProducts, ProductsAreThoseOfTheHost) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (int kind = 0; kind <= test::num_exact_kinds; ++kind) {
    for (const std::size_t n : {1u, 255u, 1025u, 8193u, 50001u}) {
      const auto items = any_items<T>(kind, n + 3, random);
      const test::gpu_array<T> x(items);
      const T* const first = x.data();
      const auto begin = items.begin();
      const auto end = begin + static_cast<std::ptrdiff_t>(n);
      SCOPED_TRACE(std::to_string(kind) + ", " + std::to_string(n));
      ASSERT_EQ(bytes_of(transform_reduce(gpu, first, first + n, first + 3, exact_dot_of<T>{})),
                bytes_of(tilefold::transform_reduce(begin, end, begin + 3, exact_dot_of<T>{})));
      ASSERT_EQ(bytes_of(reduce(gpu, first + 1, first + n + 1, r::exact_l2{})),
                bytes_of(tilefold::reduce(begin + 1, end + 1, r::exact_l2{})));
      const with_double_result<r::exact_sum_of_squares, T> squares{};
      ASSERT_EQ(bytes_of(reduce(gpu, first, first + n, squares)),
                bytes_of(tilefold::reduce(begin, end, squares)));
    }
  }
}

// Chunks of long ranges are added in one way or another, by how far their products spread. Where
// all cancels but the last item, nothing large hides what is lost below it.
TYPED_TEST_P(CudaExactProducts, LongRangesOfEverySpread) {
  using T = TypeParam;
  if constexpr (!std::is_integral_v<T>) {
    std::mt19937_64 random(test::seed());
    cuda_executor gpu;
    const auto itself = [](T x) { return x; };
    for (int round = 0; round < rounds_of_spreads<T>; ++round) {
      const std::size_t half_n = (std::size_t{1} << 21) + 777;
      const auto a = spread_items<T>(half_n, round < 2, random);
      const auto b = spread_items<T>(half_n, round < 2, random);
      const T tiny = test::float_of<T>(false, 0, 1 + random() % 2);
      const auto x = with_partners(a, test::negated<T>, tiny);
      const auto y = with_partners(b, itself, tiny);
      const test::gpu_array<T> on_gpu(x);
      const test::gpu_array<T> other_on_gpu(y);
      const T* const first = on_gpu.data();
      const T* const other = other_on_gpu.data();
      const auto n = static_cast<std::ptrdiff_t>(x.size());
      const with_double_result<r::exact_sum_of_squares, T> squares{};
      const with_double_result<r::exact_dot, T> dot{};
      SCOPED_TRACE(round);
      EXPECT_EQ(bytes_of(reduce(gpu, first, first + n, squares)),
                bytes_of(tilefold::reduce(x.begin(), x.end(), squares)));
      EXPECT_EQ(bytes_of(transform_reduce(gpu, first, first + n, other, dot)),
                bytes_of(tilefold::transform_reduce(x.end() - 1, x.end(), y.end() - 1, dot)));
      EXPECT_EQ(bytes_of(transform_reduce(gpu, first, first + n - 1, other + 1, dot)),
                bytes_of(tilefold::transform_reduce(x.begin(), x.end() - 1, y.begin() + 1, dot)));
    }
  }
}

// The products of the first half are taken away by those of the second; what is left is one of the
// least and 1. No chunk's products fit together.
TYPED_TEST_P(CudaExactProducts, DotsOfItemsFarApartKeepTheLeast) {
  using T = TypeParam;
  if constexpr (std::is_floating_point_v<T>) {
    std::mt19937_64 random(test::seed());
    cuda_executor gpu;
    const T least = test::float_of<T>(false, 0, 1);
    for (const auto how : {pattern::all_binades, pattern::both_ends}) {
      for (const std::size_t n : sizes) {
        SCOPED_TRACE(testing::Message() << n << " items, pattern " << static_cast<int>(how));
        auto x = far_apart<T>(how, n / 2, random);
        auto y = far_apart<T>(how, n / 2, random);
        std::shuffle(y.begin(), y.end(), random);
        for (std::size_t i = 0; i < n / 2; ++i) {
          const T factor = x[i], other = y[i];
          x.push_back(other);
          y.push_back(test::negated(factor));
        }
        x.push_back(least);
        y.push_back(T{1});
        const gpu_array<T> on_gpu(x), other_on_gpu(y);
        const T* const first = on_gpu.data();
        const T* const other = other_on_gpu.data();
        EXPECT_EQ(
            bytes_of(transform_reduce(gpu, first, first + x.size(), other, exact_dot_of<T>{})),
            bytes_of(least));
      }
    }
  }
}

// For compute-sanitizer, which takes its time: a block's range, a cluster's, a grid's, a long one.
TYPED_TEST_P(CudaExactProducts, SanitizeRanges) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (const std::size_t n : {1001u, 20001u, 140001u, (1u << 22) + 77}) {
    const auto items = any_items<T>(test::num_exact_kinds, n, random);
    const test::gpu_array<T> x(items);
    EXPECT_EQ(bytes_of(reduce(gpu, x.data(), x.data() + n, r::exact_l2{})),
              bytes_of(tilefold::reduce(items, r::exact_l2{})))
        << n;
  }
}

REGISTER_TYPED_TEST_SUITE_P(CudaExactProducts, ProductsAreThoseOfTheHost, LongRangesOfEverySpread,
                            DotsOfItemsFarApartKeepTheLeast, SanitizeRanges);

}  // namespace
}  // namespace tilefold
