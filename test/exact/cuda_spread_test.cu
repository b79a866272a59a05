// SPDX-License-Identifier: Apache-2.0
//
// Exact sums and dot products on a GPU of items that lie as far apart as can be.
// (cuda_slow_doubles_test.cu has what GPUs run that add doubles slowly.)
#include <algorithm>
#include <cstddef>
#include <random>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "cuda_spread.cuh"

namespace tilefold {
namespace {

template <class T>
class CudaExactFarApart : public testing::Test {};
using floats = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(CudaExactFarApart, floats);

TYPED_TEST(CudaExactFarApart, SumsKeepTheLeast) {
  cuda_executor gpu;
  expect_the_least<TypeParam>(gpu);
}

template <class T>
class CudaExactDotsFarApart : public testing::Test {};
using factors = testing::Types<float, double>;
TYPED_TEST_SUITE(CudaExactDotsFarApart, factors);

// The products of the first half are taken away by those of the second; what is left is one of the
// least and 1.
TYPED_TEST(CudaExactDotsFarApart, DotsKeepTheLeast) {
  using T = TypeParam;
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
      const gpu_array<T> x_on_gpu(x), y_on_gpu(y);
      EXPECT_EQ(bytes_of(transform_reduce(gpu, x_on_gpu.begin(), x_on_gpu.end(), y_on_gpu.begin(),
                                          r::exact_dot{})),
                bytes_of(least));
    }
  }
}

}  // namespace
}  // namespace tilefold
