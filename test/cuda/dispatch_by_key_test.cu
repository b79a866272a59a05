// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key without an executor runs where all its data is. The operator tells where it ran.
#include <string>
#include <vector>

#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/tuple.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce_by_key.hpp>

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

bool gpu_reads_pageable_memory() {
  int yes = 0;
  must(cudaDeviceGetAttribute(&yes, cudaDevAttrPageableMemoryAccess, 0));
  return yes != 0;
}

struct by_key_calls {
  gpu_array<int> device{items};
  gpu_array<int> keys_out{1000};
  gpu_array<int> values_out{1000};
  std::vector<int> host_keys = std::vector<int>(1000);
  std::vector<int> host_values = std::vector<int>(1000);
};

TEST(CudaDispatchByKey, LooksAtEverythingOfReduceByKey) {
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

TEST(CudaDispatchByKey, RefusesKeysAndValuesInDifferentMemories) {
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

}  // namespace
}  // namespace tilefold::test
