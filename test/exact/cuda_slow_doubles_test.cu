// SPDX-License-Identifier: Apache-2.0
//
// Exact sums as GPUs compute them that add doubles slowly, on any GPU.
#include <thrust/iterator/constant_iterator.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "cuda_spread.cuh"
#include "many_items.hpp"

namespace tilefold {

// A build of the test's own, whose kernels are others.
using slow_build = detail::cuda::build<false, TILEFOLD_CUDA_ARCHS, 1>;
template <>
inline constexpr bool detail::cuda::adds_doubles_slowly<slow_build> = true;

namespace {

using slow_executor = basic_cuda_executor<slow_build>;

/// Threads of a block of the one kernel that sums n items.
template <class Executor>
unsigned threads_for(std::int64_t n) {
  const test::scoped_stream stream;
  Executor gpu(stream);
  const gpu_array<float> items(std::vector<float>(static_cast<std::size_t>(n), 1.0f));
  const gpu_array<float> out(1);
  reduce_into(gpu, items.begin(), items.end(), out.data(), r::exact_sum{});
  gpu.synchronize();
  cudaGraph_t graph = nullptr;
  test::must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  reduce_into(gpu, items.begin(), items.end(), out.data(), r::exact_sum{});
  test::must(cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t node = nullptr;
  std::size_t nodes = 0;
  test::must(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 1u);
  test::must(cudaGraphGetNodes(graph, &node, &(nodes = 1)));
  cudaKernelNodeParams launch{};
  test::must(cudaGraphKernelNodeGetParams(node, &launch));
  test::must(cudaGraphDestroy(graph));
  return launch.blockDim.x;
}

TEST(CudaExactWithSlowDoubles, TakesTheWayOfFloats) {
  using namespace detail::cuda;
  constexpr std::int64_t n = least_binned_items;
  static_assert(exact_bins_policy.nt != exact_long_policy.nt);
  EXPECT_EQ(threads_for<slow_executor>(n), static_cast<unsigned>(exact_long_policy.nt));
  cudaDeviceProp device{};
  test::must(cudaGetDeviceProperties(&device, 0));
  if (adds_doubles_fast(10 * device.major + device.minor)) {
    EXPECT_EQ(threads_for<cuda_executor>(n), static_cast<unsigned>(exact_bins_policy.nt));
  }
}

template <class T>
class CudaExactWithSlowDoublesOf : public testing::Test {};
using slow_types = testing::Types<float, bfloat16>;
TYPED_TEST_SUITE(CudaExactWithSlowDoublesOf, slow_types);

TYPED_TEST(CudaExactWithSlowDoublesOf, ItemsFarApart) {
  slow_executor gpu;
  expect_the_least<TypeParam>(gpu);
}

TYPED_TEST(CudaExactWithSlowDoublesOf, LongRangesOfEveryKind) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  slow_executor gpu;
  for (int kind = 0; kind < test::num_forest_kinds; ++kind) {
    const std::size_t offset = random() % 8;
    const std::size_t n = detail::cuda::least_binned_items + random() % 100'000;
    SCOPED_TRACE(testing::Message() << "kind " << kind << ", " << n << " from " << offset);
    auto items = test::forest_items<T>(kind, n + offset, random);
    exact_accumulator<T> expected;
    expected.add(items.begin() + static_cast<std::ptrdiff_t>(offset), items.end());
    std::shuffle(items.begin() + static_cast<std::ptrdiff_t>(offset), items.end(), random);
    const gpu_array<T> on_gpu(items);
    EXPECT_EQ(
        bytes_of(reduce(gpu, on_gpu.data() + offset, on_gpu.data() + offset + n, r::exact_sum{})),
        bytes_of(expected.value()));
  }
}

TYPED_TEST(CudaExactWithSlowDoublesOf, WhatIsNotFiniteAndTheLargest) {
  using T = TypeParam;
  slow_executor gpu;
  const auto n = static_cast<std::size_t>(detail::cuda::least_binned_items) + 5;
  const float infinity = std::numeric_limits<float>::infinity();
  const T largest =
      test::float_of<T>(false, test::float_layout<T>::exponents - 1, ~std::uint64_t{0});
  gpu_array<T> on_gpu(static_cast<std::int64_t>(n));
  for (const T fill : {T(0.0f), T(-0.0f), T(1.5f), T(infinity), largest}) {
    std::vector<T> items(n, fill);
    for (const T one : {T(0.0f), T(-0.0f), T(infinity), T(-infinity),
                        T(std::numeric_limits<float>::quiet_NaN()), test::negated(largest)}) {
      items[n / 2] = one;
      on_gpu.assign(items.data(), static_cast<std::int64_t>(n));
      exact_accumulator<T> expected;
      expected.add(items.begin(), items.end());
      EXPECT_EQ(bytes_of(reduce(gpu, on_gpu.begin(), on_gpu.end(), r::exact_sum{})),
                bytes_of(expected.value()))
          << static_cast<float>(fill) << ", " << static_cast<float>(one);
    }
  }
}

// The largest numbers below powers of two fill the integers that gather digits as fast as any.
TEST(CudaExactWithSlowDoubles, ThatRoundUpWhenTheyAreCut) {
  slow_executor gpu;
  constexpr std::int64_t n = std::int64_t{1} << 33;
  for (const int exponent : {-126, -125, -100, -24, -1, 0, 1, 23, 60, 94}) {
    const float x = std::nextafter(std::ldexp(1.0f, exponent), 0.0f);
    for (const float item : {x, -x}) {
      const auto first = thrust::make_constant_iterator(item);
      EXPECT_EQ(reduce(gpu, first, first + n, r::exact_sum{}), std::ldexp(item, 33))
          << "2^" << exponent;
    }
  }
}

// Small, for tools that watch each access.
TEST(CudaExactWithSlowDoubles, SanitizeALongRange) {
  std::mt19937_64 random(test::seed());
  slow_executor gpu;
  const auto items =
      cancelling<float>(pattern::all_binades, detail::cuda::least_binned_items + 77, random);
  const gpu_array<float> on_gpu(items);
  EXPECT_EQ(reduce(gpu, on_gpu.begin(), on_gpu.end(), r::exact_sum{}), 0x1p-149f);
}

}  // namespace
}  // namespace tilefold
