// SPDX-License-Identifier: Apache-2.0
//
// Calls that name no executor run where their data is. The operator tells where it ran.
// (dispatch_adaptors_test.cu has adaptors, dispatch_by_key_test.cu calls of several iterators.)
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <thrust/device_vector.h>
#include <thrust/host_vector.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/transform_reduce.hpp>

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
