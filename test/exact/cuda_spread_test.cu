// SPDX-License-Identifier: Apache-2.0
//
// Exact sums on a GPU of items that lie as far apart as can be, so that nothing that a warp takes
// at once fits together: all binades in every tile, and the least beside the largest. What is large
// cancels, so that a lost bit is the result. Then what GPUs run that add doubles slowly, on any.
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
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "many_items.hpp"

namespace tilefold {

// A build of the test's own, whose kernels are others.
using slow_build = detail::cuda::build<false, TILEFOLD_CUDA_ARCHS, 1>;
template <>
inline constexpr bool detail::cuda::adds_doubles_slowly<slow_build> = true;

namespace {

namespace r = reducers;
using slow_executor = basic_cuda_executor<slow_build>;
using test::bytes_of;
using test::gpu_array;

enum class pattern {
  all_binades,  // any `exponents` neighbours have all exponents
  both_ends,    // the largest and the least in turn
};

/// n items in a pattern, of both signs.
template <class T>
std::vector<T> far_apart(pattern how, std::size_t n, std::mt19937_64& random) {
  constexpr std::size_t exponents = test::float_layout<T>::exponents;
  static_assert(exponents % 37 != 0);  // so that steps of 37 meet all of them
  std::vector<T> items;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t exponent = how == pattern::all_binades ? (37 * i + i / exponents) % exponents
                                 : i % 2 == 0                ? exponents - 1
                                                             : 0;
    items.push_back(test::float_of<T>(random() % 2 == 0, static_cast<int>(exponent), random()));
  }
  return items;
}

/// Items of a pattern, then what takes them away again, in another order, and last the least number
/// there is. It is their sum.
template <class T>
std::vector<T> cancelling(pattern how, std::size_t n, std::mt19937_64& random) {
  auto items = far_apart<T>(how, n / 2, random);
  auto away = items;
  std::rotate(away.begin(), away.begin() + static_cast<std::ptrdiff_t>(n / 5), away.end());
  for (T& x : away) x = test::negated(x);
  items.insert(items.end(), away.begin(), away.end());
  items.push_back(test::float_of<T>(false, 0, 1));
  return items;
}

/// A short range, a cluster's, a grid's and a long one.
constexpr std::size_t sizes[] = {1000, 20'000, 300'000, (1u << 22) + 78};

template <class T, class Executor>
void expect_the_least(Executor& gpu) {
  std::mt19937_64 random(test::seed());
  const T least = test::float_of<T>(false, 0, 1);
  for (const auto how : {pattern::all_binades, pattern::both_ends}) {
    for (const std::size_t n : sizes) {
      SCOPED_TRACE(testing::Message() << n << " items, pattern " << static_cast<int>(how));
      const auto items = cancelling<T>(how, n, random);
      const gpu_array<T> on_gpu(items);
      const T* const first = on_gpu.data();
      const T* const last = on_gpu.end();
      EXPECT_EQ(bytes_of(reduce(gpu, first, last, r::exact_sum{})), bytes_of(least));
      EXPECT_EQ(bytes_of(reduce(gpu, first, last - 1, r::exact_sum{})), bytes_of(T{}));
      // From the second item on it is what takes the first away, rounded with the least number.
      exact_accumulator<T> expected(test::negated(items[0]));
      expected.add(least);
      EXPECT_EQ(bytes_of(reduce(gpu, first + 1, last, r::exact_sum{})), bytes_of(expected.value()));
    }
  }
}

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

// ---- where doubles are slow

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
