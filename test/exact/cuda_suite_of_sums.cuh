// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact sums of ranges on a GPU: kinds of data on which sums go wrong, sizes around
// chunks and blocks, alignments, orders.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "cuda_spread.cuh"
#include "cuda_suite.cuh"
#include "many_items.hpp"
#include "random_items.hpp"

namespace tilefold {
namespace {

template <class T>
class CudaExact : public testing::Test {};
TYPED_TEST_SUITE_P(CudaExact);

TYPED_TEST_P(CudaExact, SumsAreThoseOfTheHost) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (int kind = 0; kind <= test::num_exact_kinds; ++kind) {
    for (const std::size_t n :
         {1u, 2u, 31u, 255u, 256u, 257u, 1023u, 1024u, 1025u, 8191u, 8192u, 8193u, 65537u, 100003u,
          131072u, 131073u, 1u << 20, (1u << 22) + 77}) {
      if (n > 200000 && kind != 0 && kind < test::num_exact_kinds) continue;
      const std::size_t offset = random() % 8;
      const auto items = any_items<T>(kind, n + offset, random);
      const test::gpu_array<T> x(items);
      const T* const first = x.data() + offset;
      const auto expected = sum_of(items, offset, n + offset);
      SCOPED_TRACE(std::to_string(kind) + ", " + std::to_string(n) + ", " + std::to_string(offset));
      ASSERT_EQ(bytes_of(reduce(gpu, first, first + n, exact_sum_of<T>{})),
                bytes_of(expected.template value<exact_result_of<T>>()));
      ASSERT_EQ(bytes_of(reduce(gpu, first, first + n, with_double_result<r::exact_sum, T>{})),
                bytes_of(expected.template value<double>()));
      ASSERT_EQ(bytes_of(reduce(gpu, first, first + n, r::exact_mean{})),
                bytes_of(expected.mean(static_cast<std::int64_t>(n))));
    }
  }
}

// Among numbers, and alone: chunks of nothing else are noted in another way.
TYPED_TEST_P(CudaExact, OfWhatIsNotFinite) {
  using T = TypeParam;
  if constexpr (!std::is_integral_v<T>) {
    cuda_executor gpu;
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const std::size_t n : {1u, 1000u, 5000u, 100000u}) {
      for (const float fill : {0.0f, -0.0f, 1.5f, infinity, -infinity, nan}) {
        for (const float one : {0.0f, -0.0f, 2.0f, infinity, -infinity, nan, -nan}) {
          std::vector<T> items(n, static_cast<T>(fill));
          items[n / 2] = static_cast<T>(one);
          const test::gpu_array<T> x(items);
          const T got = reduce(gpu, x.data(), x.data() + n, exact_sum_of<T>{});
          ASSERT_EQ(bytes_of(got),
                    bytes_of(sum_of(items, 0, n).template value<exact_result_of<T>>()))
              << n << " of " << fill << " and a " << one;
        }
      }
    }
  }
}

// An infinity wins over a sum that overflows, and over one that did on the way.
TYPED_TEST_P(CudaExact, InfinitiesBesideTheLargestNumbers) {
  using T = TypeParam;
  if constexpr (!std::is_integral_v<T>) {
    cuda_executor gpu;
    const T largest =
        test::float_of<T>(false, test::float_layout<T>::exponents - 1, ~std::uint64_t{0});
    const T infinity = static_cast<T>(std::numeric_limits<float>::infinity());
    for (const T size : {largest, test::negated(largest)}) {
      for (const std::size_t n : {3u, 1000u, 5000u, 100000u}) {
        for (const T one : {test::negated(size), infinity, test::negated(infinity)}) {
          std::vector<T> items(n, size);
          items[n / 2] = one;
          const test::gpu_array<T> x(items);
          ASSERT_EQ(bytes_of(reduce(gpu, x.data(), x.data() + n, exact_sum_of<T>{})),
                    bytes_of(sum_of(items, 0, n).template value<exact_result_of<T>>()))
              << n;
        }
      }
    }
  }
}

// Equal items in any order, in short ranges and long ones.
TYPED_TEST_P(CudaExact, RangesInAnyOrder) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (const std::size_t n : {200u, 5000u, 20000u, 100000u, (1u << 22) + 77}) {
    auto items = any_items<T>(test::num_exact_kinds, n, random);
    const auto expected = bytes_of(sum_of(items, 0, n).template value<exact_result_of<T>>());
    for (int round = 0; round < 3; ++round) {
      std::shuffle(items.begin(), items.end(), random);
      const test::gpu_array<T> x(items);
      ASSERT_EQ(bytes_of(reduce(gpu, x.data(), x.data() + n, exact_sum_of<T>{})), expected)
          << n << ", " << round;
    }
  }
}

// Chunks of long ranges are added in one way or another, by how far their items spread. Where all
// cancels but the last item, nothing large hides what is lost below it.
TYPED_TEST_P(CudaExact, LongRangesOfEverySpread) {
  using T = TypeParam;
  if constexpr (!std::is_integral_v<T>) {
    std::mt19937_64 random(test::seed());
    cuda_executor gpu;
    for (int round = 0; round < rounds_of_spreads<T>; ++round) {
      const std::size_t half_n = (std::size_t{1} << 21) + 777;
      const auto a = spread_items<T>(half_n, round < 2, random);
      const T tiny = test::float_of<T>(false, 0, 1 + random() % 2);
      const auto x = with_partners(a, test::negated<T>, tiny);
      const test::gpu_array<T> on_gpu(x);
      const T* const first = on_gpu.data();
      const auto n = static_cast<std::ptrdiff_t>(x.size());
      const with_double_result<r::exact_sum, T> sum{};
      SCOPED_TRACE(round);
      EXPECT_EQ(bytes_of(reduce(gpu, first, first + n, exact_sum_of<T>{})), bytes_of(tiny));
      EXPECT_EQ(bytes_of(reduce(gpu, first + 1, first + n, sum)),
                bytes_of(tilefold::reduce(x.begin() + 1, x.end(), sum)));
    }
  }
}

// Nothing that a warp takes at once fits together.
TYPED_TEST_P(CudaExact, ItemsFarApartKeepTheLeast) {
  if constexpr (!std::is_integral_v<TypeParam>) {
    cuda_executor gpu;
    expect_the_least<TypeParam>(gpu);
  }
}

// For compute-sanitizer, which takes its time: each kernel once or twice, at the ends of memory. A
// block's range, a cluster's, a grid's, a long one.
TYPED_TEST_P(CudaExact, SanitizeRanges) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (const std::size_t n : {1001u, 20001u, 140001u, (1u << 22) + 77}) {
    const auto items = any_items<T>(test::num_exact_kinds, n, random);
    const test::gpu_array<T> x(items);
    EXPECT_EQ(bytes_of(reduce(gpu, x.data() + 1, x.data() + n, exact_sum_of<T>{})),
              bytes_of(sum_of(items, 1, n).template value<exact_result_of<T>>()))
        << n;
  }
}

REGISTER_TYPED_TEST_SUITE_P(CudaExact, SumsAreThoseOfTheHost, OfWhatIsNotFinite,
                            InfinitiesBesideTheLargestNumbers, RangesInAnyOrder,
                            LongRangesOfEverySpread, ItemsFarApartKeepTheLeast, SanitizeRanges);

}  // namespace
}  // namespace tilefold
