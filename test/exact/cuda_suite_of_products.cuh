// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact products of ranges on a GPU, and of chunks that are added in one way or
// another.
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
      ASSERT_EQ(bytes_of(reduce(gpu, first, first + n, r::exact_sum_of_squares<double>{})),
                bytes_of(tilefold::reduce(begin, end, r::exact_sum_of_squares<double>{})));
    }
  }
}

/// Stretches whose exponents spread over few or many, at the least, the largest or between; with
/// zeros, and stretches of zeros alone. Not `mixed`: of one spread and place.
template <class T>
std::vector<T> stretches(std::size_t n, bool mixed, std::mt19937_64& random) {
  constexpr int exponents = test::float_layout<T>::exponents;
  const auto below = [&](int bound) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(bound));
  };
  std::vector<T> items;
  while (items.size() < n) {
    constexpr int spreads[] = {1, 2, 8, 16, 20, 23, 24, 39, 40, 41, 42, 79, 80, 81, 120, exponents};
    const int spread = std::min(exponents, spreads[below(16)]);
    const int place = below(4);
    const int lowest = place == 0   ? 0
                       : place == 1 ? exponents - spread
                                    : below(exponents - spread + 1);
    const int zeros = below(8) == 0 ? 1 : 64;  // one item in so many
    const bool of_minus = below(2) == 0;
    const std::size_t length = mixed ? static_cast<std::size_t>(1 + below(20000)) : n;
    for (std::size_t i = 0; i < length; ++i) {
      const bool zero = below(zeros) == 0;
      items.push_back(test::float_of<T>(zero ? of_minus : below(2) == 0,
                                        zero ? 0 : lowest + below(spread), zero ? 0 : random()));
    }
  }
  items.resize(n);
  return items;
}

/// a, then what `of` makes of each of its items, then `last`.
template <class T, class Of>
std::vector<T> twice(const std::vector<T>& a, Of of, T last) {
  std::vector<T> result = a;
  for (const T x : a) result.push_back(of(x));
  result.push_back(last);
  return result;
}

// Chunks of long ranges are added in one way or another, by how far their items spread. Where all
// cancels but the last item, nothing large hides what is lost below it.
TYPED_TEST_P(CudaExactProducts, LongRangesOfEverySpread) {
  using T = TypeParam;
  if constexpr (!std::is_integral_v<T>) {
    std::mt19937_64 random(test::seed());
    cuda_executor gpu;
    const auto itself = [](T x) { return x; };
    const int rounds = sizeof(T) == 8 ? 3 : 6;  // the host is slow over doubles far apart
    for (int round = 0; round < rounds; ++round) {
      const std::size_t half_n = (std::size_t{1} << 21) + 777;
      const auto a = stretches<T>(half_n, round < 2, random);
      const auto b = stretches<T>(half_n, round < 2, random);
      const T tiny = test::float_of<T>(false, 0, 1 + random() % 2);
      const auto x = twice(a, test::negated<T>, tiny);
      const auto y = twice(b, itself, tiny);
      const test::gpu_array<T> on_gpu(x);
      const test::gpu_array<T> other_on_gpu(y);
      const T* const first = on_gpu.data();
      const T* const other = other_on_gpu.data();
      const auto n = static_cast<std::ptrdiff_t>(x.size());
      SCOPED_TRACE(round);
      EXPECT_EQ(bytes_of(reduce(gpu, first, first + n, exact_sum_of<T>{})), bytes_of(tiny));
      EXPECT_EQ(bytes_of(reduce(gpu, first + 1, first + n, r::exact_sum<double>{})),
                bytes_of(tilefold::reduce(x.begin() + 1, x.end(), r::exact_sum<double>{})));
      EXPECT_EQ(bytes_of(reduce(gpu, first, first + n, r::exact_sum_of_squares<double>{})),
                bytes_of(tilefold::reduce(x.begin(), x.end(), r::exact_sum_of_squares<double>{})));
      EXPECT_EQ(bytes_of(transform_reduce(gpu, first, first + n, other, r::exact_dot<double>{})),
                bytes_of(tilefold::transform_reduce(x.end() - 1, x.end(), y.end() - 1,
                                                    r::exact_dot<double>{})));
      EXPECT_EQ(
          bytes_of(transform_reduce(gpu, first, first + n - 1, other + 1, r::exact_dot<double>{})),
          bytes_of(tilefold::transform_reduce(x.begin(), x.end() - 1, y.begin() + 1,
                                              r::exact_dot<double>{})));
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(CudaExactProducts, ProductsAreThoseOfTheHost, LongRangesOfEverySpread);

}  // namespace
}  // namespace tilefold
