// SPDX-License-Identifier: Apache-2.0
//
// Calls over adaptors that name no executor run where the data beneath is. The operator tells where
// it ran.
#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>
#include <cuda/std/functional>
#include <cuda/std/iterator>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/extrema.hpp>
#include <tilefold/inner_product.hpp>
#include <tilefold/reduce.hpp>

#include "support/adaptors.cuh"
#include "support/device.cuh"

namespace tilefold::test {
namespace {

constexpr int on_host = 1;
constexpr int on_gpu = 2;

struct place {
  TILEFOLD_HD int operator()(int, int) const {
#if defined(__CUDA_ARCH__)
    return on_gpu;
#else
    return on_host;
#endif
  }
};

const std::vector<int> items(1000, 0);

struct place_of_item {
  TILEFOLD_HD int operator()(int) const { return place{}(0, 0); }
};
struct sum_of_pair {
  template <class Pair>
  TILEFOLD_HD int operator()(const Pair& pair) const {
    return static_cast<int>(thrust::get<0>(pair)) + static_cast<int>(thrust::get<1>(pair));
  }
};
struct larger_pair {
  template <class Pair>
  TILEFOLD_HD Pair operator()(const Pair& a, const Pair& b) const {
    return thrust::get<0>(b) > thrust::get<0>(a) ? b : a;
  }
};

template <class It>
int where(It first) {
  return tilefold::reduce(first, first + 9, place{});
}

template <class It>
auto with_place(It first) {
  return thrust::make_transform_iterator(first, place_of_item{});
}
template <class A, class B>
auto added(A a, B b) {
  return thrust::make_transform_iterator(zipped(a, b), sum_of_pair{});
}

bool gpu_reads_pageable_memory() {
  int yes = 0;
  must(cudaDeviceGetAttribute(&yes, cudaDevAttrPageableMemoryAccess, 0));
  return yes != 0;
}

TEST(CudaDispatchOfAdaptors, TakesAdaptorsOfDeviceMemoryToTheGpu) {
  const gpu_array<int> device(items);
  const int* const raw = device.data();
  const thrust::device_vector<int> vector(1000, 0);
  const thrust::counting_iterator<int> count(0);
  EXPECT_EQ(where(with_place(raw)), on_gpu);
  EXPECT_EQ(where(with_place(vector.begin())), on_gpu);
  EXPECT_EQ(where(with_place(with_place(raw))), on_gpu);
  EXPECT_EQ(where(added(raw, raw)), on_gpu);
  EXPECT_EQ(where(added(raw, count)), on_gpu);
  EXPECT_EQ(where(added(vector.begin(), vector.begin())), on_gpu);
  EXPECT_EQ(where(added(vector.begin(), raw)), on_gpu);
  EXPECT_EQ(where(thrust::make_permutation_iterator(raw, count)), on_gpu);
  EXPECT_EQ(where(thrust::make_permutation_iterator(raw, raw)), on_gpu);
  EXPECT_EQ(where(thrust::make_permutation_iterator(vector.begin(), vector.begin())), on_gpu);
  EXPECT_EQ(where(thrust::make_reverse_iterator(raw + 1000)), on_gpu);
  EXPECT_EQ(where(thrust::make_reverse_iterator(vector.end())), on_gpu);
  EXPECT_EQ(where(cuda::std::make_reverse_iterator(raw + 1000)), on_gpu);
  EXPECT_EQ(where(with_place(thrust::make_reverse_iterator(raw + 1000))), on_gpu);
}

TEST(CudaDispatchOfAdaptors, TakesAdaptorsOfManagedMemoryToTheGpu) {
  const gpu_array<int, memory::managed> managed(items);
  EXPECT_EQ(where(with_place(static_cast<const int*>(managed.data()))), on_gpu);
}

TEST(CudaDispatchOfAdaptors, KeepsOtherAdaptorsOnTheHost) {
  const gpu_array<int, memory::pinned> pinned(items);
  const thrust::counting_iterator<int> count(0);
  EXPECT_EQ(where(with_place(items.data())), on_host);
  EXPECT_EQ(where(with_place(items.begin())), on_host);
  EXPECT_EQ(where(with_place(pinned.data())), on_host);
  EXPECT_EQ(where(with_place(count)), on_host);
  EXPECT_EQ(where(added(items.data(), count)), on_host);
  EXPECT_EQ(where(std::make_reverse_iterator(items.data() + 1000)), on_host);
  // A kernel cannot have the type of such a lambda, nor of a view that holds one.
  const auto zero = thrust::make_transform_iterator(items.data(), [](int) { return 0; });
  EXPECT_EQ(where(zero), on_host);
  const auto view = std::span<const int>(items) | std::views::transform([](int) { return 0; });
  EXPECT_EQ(where(view.begin()), on_host);
  const auto first = with_place(items.data());
  EXPECT_EQ(tilefold::reduce(first, first + 9, [](int a, int b) { return place{}(a, b); }),
            on_host);
}

TEST(CudaDispatchOfAdaptors, FoldsZippedDeviceVectors) {
  const std::vector<int> keys{3, 1, 4, 1, 5, 9, 2, 6};
  const thrust::device_vector<int> a(keys.begin(), keys.end());
  const thrust::device_vector<float> b(keys.begin(), keys.end());
  const auto pairs = zipped(a.begin(), b.begin());
  const auto best = tilefold::reduce(pairs, pairs + 8, larger_pair{});
  EXPECT_EQ(thrust::get<0>(best), 9);
  EXPECT_EQ(thrust::get<1>(best), 9.0f);
  const auto negated = thrust::make_transform_iterator(a.begin(), cuda::std::negate<int>{});
  EXPECT_EQ(tilefold::min_element(negated, negated + 8) - negated, 5);
}

TEST(CudaDispatchOfAdaptors, RefusesMemoryThatNoExecutorReachesAll) {
  const gpu_array<int> device(items);
  const thrust::device_vector<int> vector(1000, 0);
  const auto refused = [&](auto call, const void* gpu, const void* host) {
    if (gpu_reads_pageable_memory()) {
      EXPECT_NO_THROW(call());
      return;
    }
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const memory_space_error& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find(detail::cuda::hex(gpu)), std::string::npos) << text;
      EXPECT_NE(text.find(detail::cuda::hex(host)), std::string::npos) << text;
    }
  };
  const int* const raw = device.data();
  refused([&] { (void)where(added(raw, items.data())); }, raw, items.data());
  refused([&] { (void)where(added(items.data(), raw)); }, raw, items.data());
  refused([&] { (void)where(added(vector.begin(), items.data())); },
          thrust::raw_pointer_cast(vector.data()), items.data());
  refused([&] { (void)tilefold::inner_product(items.data(), items.data() + 9, raw, 0); }, raw,
          items.data());
}

}  // namespace
}  // namespace tilefold::test
