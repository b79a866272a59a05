// SPDX-License-Identifier: Apache-2.0
//
// Exact sums on a GPU through functions and adaptors; the workspace.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "cuda_suite.cuh"
#include "many_items.hpp"

namespace tilefold {
namespace {

struct halved {
  __host__ __device__ float operator()(float x) const { return 0.5f * x; }
};

TEST(CudaExactSum, OfFunctionsAndAdaptors) {
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const auto items = items_of<float>(test::num_exact_kinds, 100000, random);
  const test::gpu_array<float> x(items);
  exact_accumulator<float> expected;
  for (const float item : items) expected.add(0.5f * item);
  const float* const first = x.data();
  EXPECT_EQ(bytes_of(transform_reduce(gpu, first, first + 100000, r::exact_sum{}, halved{})),
            bytes_of(expected.value()));
  const auto adaptor = thrust::make_transform_iterator(first, halved{});
  EXPECT_EQ(bytes_of(reduce(gpu, adaptor, adaptor + 100000, r::exact_sum{})),
            bytes_of(expected.value()));
}

// Item i of a sum that is (n / 3) 2^-140 for n of three: what is above cancels.
struct large_and_tiny {
  template <class T>
  __host__ __device__ static T at(std::int64_t i) {
    const T large = static_cast<T>(1e30f) + static_cast<T>(i / 3 % 1000);
    return i % 3 == 0 ? large : i % 3 == 1 ? -large : static_cast<T>(0x1p-140);
  }
};
struct as_float {
  __host__ __device__ float operator()(std::int64_t i) const {
    return large_and_tiny::at<float>(i);
  }
};
struct as_double {
  __host__ __device__ double operator()(std::int64_t i) const {
    return large_and_tiny::at<double>(i);
  }
};

// So long that every lane's bins and rows fill up on the way.
TEST(CudaExactSum, EmptiesWhatIsFull) {
  cuda_executor gpu;
  const thrust::counting_iterator<std::int64_t> index(0);
  const std::int64_t floats = std::int64_t{3} << 28;
  const auto f = thrust::make_transform_iterator(index, as_float{});
  EXPECT_EQ(reduce(gpu, f, f + floats, r::exact_sum{}), 0x1p-112f);
  const std::int64_t doubles = std::int64_t{3} << 26;
  const auto d = thrust::make_transform_iterator(index, as_double{});
  EXPECT_EQ(reduce(gpu, d, d + doubles, r::exact_sum{}), 0x1p-114);
}

// The same workspace again and again, other sizes between: sums are zero between launches.
TEST(CudaExactSum, SanitizeLeavesTheWorkspaceAsItWas) {
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const auto items = items_of<double>(0, 70001, random);
  const test::gpu_array<double> x(items);
  const double* const first = x.data();
  const double expected = sum_of(items, 0, 70001).value();
  const double plain = reduce(gpu, first, first + 70001, r::max{});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bytes_of(reduce(gpu, first, first + 70001, r::exact_sum{})), bytes_of(expected));
    EXPECT_EQ(reduce(gpu, first, first + 70001, r::max{}), plain);
    EXPECT_EQ(bytes_of(reduce(gpu, first, first + 5000, r::exact_sum{})),
              bytes_of(sum_of(items, 0, 5000).value()));
    EXPECT_EQ(bytes_of(reduce(gpu, first, first + 20000, r::exact_sum{})),
              bytes_of(sum_of(items, 0, 20000).value()));
  }
}

}  // namespace
}  // namespace tilefold
