// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong on a GPU goes wrong cleanly: a typed exception that names the value, nothing
// written through the output, no memory lost, and an executor that works again.
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "conformance/conformance.hpp"
#include "support/device.cuh"
#include "support/memory_resource.cuh"

namespace tilefold::test {
namespace {

template <class Error, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool gpu_reads_pageable_memory() {
  int yes = 0;
  must(cudaDeviceGetAttribute(&yes, cudaDevAttrPageableMemoryAccess, 0));
  return yes != 0;
}

struct negation {
  TILEFOLD_HD float operator()(float x) const { return -x; }
};

struct second_of_pair {
  template <class Pair>
  TILEFOLD_HD float operator()(const Pair& pair) const {
    return thrust::get<1>(pair);
  }
};

class CudaFaults : public ::testing::Test {
 protected:
  CudaFaults() { must(cudaMemset(out_.data(), 0x77, sizeof(float))); }

  // After every fault: the output untouched, no error left behind, and the executor in order.
  void TearDown() override {
    executor_.synchronize();
    const float untouched = std::bit_cast<float>(0x77777777u);
    EXPECT_TRUE(same_bits(out_.to_host()[0], untouched));
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    memory_.fail_beyond(std::numeric_limits<std::int64_t>::max());
    EXPECT_TRUE(same_bits(reduce(executor_, array_.begin(), array_.end()), expected_));
    reduce_into(executor_, array_.begin(), array_.end(), out_.data());
    executor_.synchronize();
    EXPECT_TRUE(same_bits(out_.to_host()[0], expected_));
  }

  std::vector<float> items_ = make_items<float>(pattern::mixed, 1000003);
  float expected_ = reference::fold<float>(reference::plus{}, items_);
  gpu_array<float> array_{items_};
  gpu_array<float> out_{1};
  tracking_resource memory_;
  cuda_executor executor_{memory_};
};

TEST_F(CudaFaults, NoWorkspaceToBeHad) {
  memory_.fail_beyond(0);
  try {
    reduce_into(executor_, array_.begin(), array_.end(), out_.data());
    FAIL() << "nothing was thrown";
  } catch (const allocation_error& e) {
    EXPECT_GT(e.bytes(), 0);
    EXPECT_TRUE(contains(e.what(), std::to_string(e.bytes()))) << e.what();
  }
  EXPECT_THROW((void)reduce(executor_, array_.begin(), array_.end()), allocation_error);
  EXPECT_THROW(executor_.reserve(1 << 20), allocation_error);
  EXPECT_EQ(memory_.allocations(), 0);
  EXPECT_EQ(executor_.workspace_bytes(), 0);
}

TEST_F(CudaFaults, NoLargerWorkspaceToBeHad) {
  (void)reduce(executor_, array_.begin(), array_.begin() + 100000);
  const std::int64_t kept = executor_.workspace_bytes();
  memory_.fail_beyond(kept);
  const auto many = thrust::make_counting_iterator(std::int64_t{0});
  EXPECT_THROW((void)reduce(executor_, many, many + (std::int64_t{1} << 32)), allocation_error);
  EXPECT_EQ(executor_.workspace_bytes(), kept);
  // What fits in the old one still works.
  EXPECT_TRUE(same_bits(reduce(executor_, array_.begin(), array_.begin() + 5), [&] {
    return reference::fold<float>(reference::plus{},
                                  std::vector<float>(items_.begin(), items_.begin() + 5));
  }()));
}

TEST_F(CudaFaults, MoreMemoryThanTheDeviceHas) {
  cuda_executor plain;
  EXPECT_THROW(plain.reserve(std::int64_t{1} << 46), allocation_error);
  EXPECT_TRUE(same_bits(reduce(plain, array_.begin(), array_.end()), expected_));
}

TEST_F(CudaFaults, LastBeforeFirst) {
  const auto text = message_of<invalid_range_error>(
      [&] { reduce_into(executor_, array_.begin() + 7, array_.begin() + 2, out_.data()); });
  EXPECT_TRUE(contains(text, "5")) << text;
  EXPECT_THROW((void)reduce(executor_, array_.end(), array_.begin()), invalid_range_error);
}

TEST_F(CudaFaults, NullPointers) {
  const float* null = nullptr;
  const auto text =
      message_of<null_pointer_error>([&] { reduce_into(executor_, null, null + 3, out_.data()); });
  EXPECT_TRUE(contains(text, "first")) << text;
  EXPECT_THROW((void)reduce(executor_, null, null + 3), null_pointer_error);
  float* nowhere = nullptr;
  const auto out_text = message_of<null_pointer_error>(
      [&] { reduce_into(executor_, array_.begin(), array_.end(), nowhere); });
  EXPECT_TRUE(contains(out_text, "out")) << out_text;
  EXPECT_THROW(reduce_into(executor_, array_.begin(), array_.begin(), nowhere), null_pointer_error);
  // Nothing is read of an empty range.
  EXPECT_EQ(reduce(executor_, null, null, 2.5f), 2.5f);
}

TEST_F(CudaFaults, HostMemoryGivenToTheGpu) {
  if (gpu_reads_pageable_memory()) {
    // Then host memory is no fault, and the result must be right.
    EXPECT_TRUE(
        same_bits(reduce(executor_, items_.data(), items_.data() + items_.size()), expected_));
    return;
  }
  const auto text = message_of<memory_space_error>(
      [&] { reduce_into(executor_, items_.data(), items_.data() + 3, out_.data()); });
  EXPECT_TRUE(contains(text, "0x")) << text;
  EXPECT_THROW((void)reduce(executor_, items_.data(), items_.data() + 3), memory_space_error);
  float on_the_stack = 1.5f;
  EXPECT_THROW(reduce_into(executor_, array_.begin(), array_.end(), &on_the_stack),
               memory_space_error);
  EXPECT_EQ(on_the_stack, 1.5f);
}

// An adaptor is only as good as what it adapts. (A sum of negated items is the negated sum.)
TEST_F(CudaFaults, HostMemoryInsideAdaptorsGivenToTheGpu) {
  const auto negated = thrust::make_transform_iterator(items_.data(), negation{});
  const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(array_.data(), items_.data()));
  const auto counted = thrust::make_permutation_iterator(
      items_.data(), thrust::make_counting_iterator(std::int64_t{0}));
  const std::vector<int> order{2, 0, 1};
  const auto permuted = thrust::make_permutation_iterator(array_.data(), order.data());
  const std::int64_t n = array_.size();
  const second_of_pair second;
  if (gpu_reads_pageable_memory()) {
    EXPECT_TRUE(same_bits(reduce(executor_, negated, negated + n), -expected_));
    EXPECT_TRUE(
        same_bits(transform_reduce(executor_, pairs, pairs + n, -0.0f, plus{}, second), expected_));
    EXPECT_TRUE(same_bits(reduce(executor_, counted, counted + n), expected_));
    EXPECT_TRUE(
        same_bits(reduce(executor_, permuted, permuted + 3), items_[2] + items_[0] + items_[1]));
    return;
  }
  const auto text = message_of<memory_space_error>(
      [&] { reduce_into(executor_, negated, negated + n, out_.data()); });
  EXPECT_TRUE(contains(text, "0x")) << text;
  EXPECT_TRUE(contains(text, "first")) << text;
  EXPECT_THROW((void)reduce(executor_, negated + 3, negated + n), memory_space_error);
  EXPECT_THROW((void)transform_reduce(executor_, pairs, pairs + n, 0.0f, plus{}, second),
               memory_space_error);
  EXPECT_THROW((void)reduce(executor_, counted, counted + n), memory_space_error);
  EXPECT_THROW((void)reduce(executor_, permuted, permuted + 3), memory_space_error);
  const auto dot = message_of<memory_space_error>(
      [&] { (void)transform_reduce(executor_, array_.begin(), array_.end(), negated, 0.0f); });
  EXPECT_TRUE(contains(dot, "first2")) << dot;
}

TEST_F(CudaFaults, DeviceMemoryInsideAdaptorsGivenToTheHost) {
  const host_executor host;
  const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(items_.data(), array_.data()));
  static_assert(detail::zipped_iterators<std::remove_const_t<decltype(pairs)>>);
  const second_of_pair second;
  const auto text = message_of<memory_space_error>(
      [&] { (void)transform_reduce(host, pairs, pairs + 3, 0.0f, plus{}, second); });
  EXPECT_TRUE(contains(text, "0x")) << text;
  const auto swapped = thrust::make_zip_iterator(thrust::make_tuple(array_.data(), items_.data()));
  EXPECT_THROW((void)transform_reduce(host, swapped, swapped + 3, 0.0f, plus{}, second),
               memory_space_error);
  const auto seconds = thrust::make_transform_iterator(pairs, second);
  EXPECT_THROW((void)reduce(host, seconds, seconds + 3), memory_space_error);
  // No executor named, and none reads both: the message has both addresses.
  if (gpu_reads_pageable_memory()) {
    EXPECT_NO_THROW((void)tilefold::reduce(seconds, seconds + 3));
  } else {
    const auto both =
        message_of<memory_space_error>([&] { (void)tilefold::reduce(seconds, seconds + 3); });
    EXPECT_TRUE(contains(both, detail::cuda::hex(array_.data()))) << both;
    EXPECT_TRUE(contains(both, detail::cuda::hex(items_.data()))) << both;
  }
  const auto counted = thrust::make_permutation_iterator(
      array_.data(), thrust::make_counting_iterator(std::int64_t{0}));
  EXPECT_THROW((void)reduce(host, counted, counted + 3), memory_space_error);
  // Host memory in both members is no fault.
  const auto here = thrust::make_zip_iterator(thrust::make_tuple(items_.data(), items_.data()));
  EXPECT_TRUE(
      same_bits(transform_reduce(host, here, here + static_cast<std::int64_t>(items_.size()), -0.0f,
                                 plus{}, second),
                expected_));
}

TEST_F(CudaFaults, DeviceMemoryGivenToTheHost) {
  host_executor host;
  const auto text =
      message_of<memory_space_error>([&] { (void)reduce(host, array_.begin(), array_.end()); });
  EXPECT_TRUE(contains(text, "0x")) << text;
  EXPECT_THROW(reduce_into(host, items_.begin(), items_.end(), out_.data()), memory_space_error);
}

TEST_F(CudaFaults, MemoryOfAnotherGpu) {
  int devices = 0;
  must(cudaGetDeviceCount(&devices));
  if (devices < 2) GTEST_SKIP() << "needs two GPUs";
  must(cudaSetDevice(1));
  {
    gpu_array<float> elsewhere(16);
    EXPECT_THROW((void)reduce(executor_, elsewhere.begin(), elsewhere.end()), memory_space_error);
    // The executor stays on its own device whatever is current.
    EXPECT_TRUE(same_bits(reduce(executor_, array_.begin(), array_.end()), expected_));
    int current = -1;
    must(cudaGetDevice(&current));
    EXPECT_EQ(current, 1);
  }
  must(cudaSetDevice(0));
}

TEST_F(CudaFaults, MoreTilesThanOneLaunchCovers) {
  const auto many = thrust::make_counting_iterator(std::int64_t{0});
  const auto exec = with_policy<tile_policy{32, 1}>(executor_);
  const std::int64_t n = std::int64_t{1} << 37;
  const auto text =
      message_of<invalid_range_error>([&] { (void)reduce(exec, many, many + n, bit_xor{}); });
  EXPECT_TRUE(contains(text, std::to_string(n))) << text;
}

struct subtract {
  TILEFOLD_HD float operator()(float a, float b) const { return a - b; }
};

TEST_F(CudaFaults, EmptyWithoutInitialValueOrIdentity) {
  const auto text = message_of<empty_range_error>(
      [&] { reduce_into(executor_, array_.begin(), array_.begin(), out_.data(), subtract{}); });
  EXPECT_TRUE(contains(text, "subtract")) << text;
}

TEST_F(CudaFaults, AnEarlierErrorOfTheCallersIsNotOurs) {
  // Leaves a (harmless) last error behind, which no call of ours may take for its own.
  EXPECT_EQ(cudaMemset(nullptr, 0, 16), cudaErrorInvalidValue);
  EXPECT_TRUE(same_bits(reduce(executor_, array_.begin(), array_.end()), expected_));
  (void)cudaGetLastError();
}

}  // namespace
}  // namespace tilefold::test
