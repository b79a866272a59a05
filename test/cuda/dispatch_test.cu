// SPDX-License-Identifier: Apache-2.0
//
// Calls that name no executor run where their data is. The operator tells where it ran.
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

#include <tilefold/tilefold.cuh>

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

TEST(CudaDispatch, TakesDeviceMemoryToTheGpu) {
  gpu_array<int> device(items);
  EXPECT_EQ(tilefold::reduce(device.begin(), device.end(), place{}), on_gpu);
  const int* constant = device.data();
  EXPECT_EQ(tilefold::reduce(constant, constant + 1000, place{}), on_gpu);
  EXPECT_EQ(tilefold::reduce(std::span<const int>(constant, 1000), place{}), on_gpu);
  EXPECT_EQ(tilefold::reduce(constant + 500, constant + 1000, 0, place{}), on_gpu);
}

TEST(CudaDispatch, TakesManagedMemoryToTheGpu) {
  gpu_array<int, memory::managed> managed(items);
  EXPECT_EQ(tilefold::reduce(managed.begin(), managed.end(), place{}), on_gpu);
}

TEST(CudaDispatch, TakesThrustsDeviceIteratorsToTheGpu) {
  const thrust::device_vector<int> vector(1000, 0);
  EXPECT_EQ(tilefold::reduce(vector.begin(), vector.end(), place{}), on_gpu);
  EXPECT_EQ(tilefold::reduce(vector, place{}), on_gpu);
}

TEST(CudaDispatch, KeepsHostMemoryOnTheHost) {
  EXPECT_EQ(tilefold::reduce(items.begin(), items.end(), place{}), on_host);
  EXPECT_EQ(tilefold::reduce(items, place{}), on_host);
  EXPECT_EQ(tilefold::reduce(items.data(), items.data() + 1000, place{}), on_host);
  EXPECT_EQ(tilefold::reduce(std::span<const int>(items), place{}), on_host);
  const int stack[3] = {0, 0, 0};
  EXPECT_EQ(tilefold::reduce(stack, stack + 3, place{}), on_host);
  const thrust::host_vector<int> vector(1000, 0);
  EXPECT_EQ(tilefold::reduce(vector.begin(), vector.end(), place{}), on_host);
}

TEST(CudaDispatch, KeepsPinnedMemoryOnTheHost) {
  gpu_array<int, memory::pinned> pinned(items);
  EXPECT_EQ(tilefold::reduce(pinned.begin(), pinned.end(), place{}), on_host);
}

TEST(CudaDispatch, ServesTransformReduceToo) {
  gpu_array<int> device(items);
  const auto first = device.begin();
  EXPECT_EQ(tilefold::transform_reduce(first, first + 9, first, 0, place{}, plus{}), on_gpu);
  EXPECT_EQ(
      tilefold::transform_reduce(items.begin(), items.end(), items.begin(), 0, place{}, plus{}),
      on_host);
}

TEST(CudaDispatch, ChecksNullPointersOfUnknownPlace) {
  const int* null = nullptr;
  EXPECT_THROW((void)tilefold::reduce(null, null + 3), null_pointer_error);
  EXPECT_EQ(tilefold::reduce(null, null), 0);
}

// ---- adaptors

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

TEST(CudaDispatch, TakesAdaptorsOfDeviceMemoryToTheGpu) {
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

TEST(CudaDispatch, TakesAdaptorsOfManagedMemoryToTheGpu) {
  const gpu_array<int, memory::managed> managed(items);
  EXPECT_EQ(where(with_place(static_cast<const int*>(managed.data()))), on_gpu);
}

TEST(CudaDispatch, KeepsOtherAdaptorsOnTheHost) {
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

TEST(CudaDispatch, FoldsZippedDeviceVectors) {
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

TEST(CudaDispatch, RefusesMemoryThatNoExecutorReachesAll) {
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

// ---- several iterators

struct by_key_calls {
  gpu_array<int> device{items};
  gpu_array<int> keys_out{1000};
  gpu_array<int> values_out{1000};
  std::vector<int> host_keys = std::vector<int>(1000);
  std::vector<int> host_values = std::vector<int>(1000);
};

TEST(CudaDispatch, LooksAtEverythingOfReduceByKey) {
  by_key_calls of;
  const thrust::counting_iterator<int> count(0);
  const int* const raw = of.device.data();
  // Keys that lie nowhere: values and outputs decide.
  EXPECT_EQ(tilefold::reduce_by_key(count, count + 9, raw, of.keys_out.data(), of.values_out.data(),
                                    place{}),
            9);
  EXPECT_EQ(of.keys_out.to_host()[8], 8);
  const auto tens = thrust::make_transform_iterator(count, place_of_item{});
  EXPECT_EQ(tilefold::reduce_by_key(tens, tens + 1000, count, of.keys_out.data(),
                                    of.values_out.data(), place{}),
            1);
  EXPECT_EQ(of.keys_out.to_host()[0], on_gpu);
  EXPECT_EQ(of.values_out.to_host()[0], on_gpu);
  EXPECT_EQ(tilefold::reduce_by_key(tens, tens + 1000, count, of.host_keys.data(),
                                    of.host_values.data(), place{}),
            1);
  EXPECT_EQ(of.host_keys[0], on_host);
  EXPECT_EQ(of.host_values[0], on_host);
  const auto pairs = zipped(raw, raw);
  thrust::device_vector<thrust::tuple<int, int>> pairs_out(1000);
  EXPECT_EQ(tilefold::reduce_by_key(pairs, pairs + 1000, raw, pairs_out.begin(),
                                    of.values_out.data(), place{}),
            1);
  EXPECT_EQ(of.values_out.to_host()[0], on_gpu);
}

TEST(CudaDispatch, RefusesKeysAndValuesInDifferentMemories) {
  by_key_calls of;
  if (gpu_reads_pageable_memory()) GTEST_SKIP() << "this GPU reads host memory";
  const int* const raw = of.device.data();
  const auto refused = [&](auto keys, auto values, auto keys_out, auto values_out) {
    try {
      (void)tilefold::reduce_by_key(keys, keys + 9, values, keys_out, values_out);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const memory_space_error& e) {
      EXPECT_NE(std::string(e.what()).find("is host memory, which that GPU"), std::string::npos)
          << e.what();
    }
  };
  refused(items.data(), raw, of.host_keys.data(), of.host_values.data());
  refused(items.begin(), raw, of.host_keys.data(), of.host_values.data());
  refused(raw, items.data(), of.keys_out.data(), of.values_out.data());
  refused(raw, raw, of.host_keys.data(), of.values_out.data());
  refused(raw, raw, of.keys_out.data(), of.host_values.data());
}

// In functions of their own: a lambda for the device cannot stand in a test's private body.
int reduced_by_device_lambda(const int* first, const int* last) {
  return tilefold::reduce(first, last,
                          [] __device__(int a, int b) -> int { return a + b + place{}(a, b); });
}

int reduced_by_lambda_for_both(const int* first, const int* last) {
  return tilefold::reduce(first, last,
                          [] __host__ __device__(int a, int b) { return place{}(a, b); });
}

TEST(CudaDispatch, RunsDeviceLambdasOnTheGpu) {
  gpu_array<int> device(items);
  EXPECT_EQ(reduced_by_device_lambda(device.begin(), device.begin() + 2), on_gpu);
}

TEST(CudaDispatch, RefusesDeviceLambdasOnHostMemory) {
  try {
    (void)reduced_by_device_lambda(items.data(), items.data() + 2);
    FAIL() << "nothing was thrown";
  } catch (const memory_space_error& e) {
    EXPECT_NE(std::string(e.what()).find("0x"), std::string::npos) << e.what();
  }
}

TEST(CudaDispatch, RunsLambdasForBothWhereTheDataIs) {
  gpu_array<int> device(items);
  EXPECT_EQ(reduced_by_lambda_for_both(device.begin(), device.end()), on_gpu);
  EXPECT_EQ(reduced_by_lambda_for_both(items.data(), items.data() + 1000), on_host);
}

}  // namespace
}  // namespace tilefold::test
