// SPDX-License-Identifier: Apache-2.0
//
// Two GPUs: an executor works on its own device whatever device is current, and leaves that one
// current; both give the same bits; memory of the other GPU is refused. Skipped where there is one.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <thrust/iterator/transform_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

#include "conformance/conformance.hpp"
#include "support/device.cuh"

namespace tilefold::test {
namespace {

int current_device() {
  int device = -1;
  must(cudaGetDevice(&device));
  return device;
}

struct negation {
  TILEFOLD_HD float operator()(float x) const { return -x; }
};

// Everything of device 1 is made while it is current; the tests run with device 0 current.
class CudaTwoGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    must(cudaGetDeviceCount(&devices));
    if (devices < 2) GTEST_SKIP() << "needs two GPUs";
    must(cudaSetDevice(1));
    there_.emplace();
    array_there_.emplace(items_);
    out_there_.emplace(1);
    must(cudaSetDevice(0));
    here_.emplace();
    array_here_.emplace(items_);
    out_here_.emplace(1);
  }

  void TearDown() override {
    if (!there_) return;
    EXPECT_EQ(current_device(), 0);
    // An executor of the other device is also destroyed from here.
    there_.reset();
    here_.reset();
    EXPECT_EQ(current_device(), 0);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }

  template <class Call>
  void expect_refused(Call call) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const memory_space_error& e) {
      const std::string what = e.what();
      EXPECT_NE(what.find("GPU 0"), std::string::npos) << what;
      EXPECT_NE(what.find("GPU 1"), std::string::npos) << what;
    }
    EXPECT_EQ(current_device(), 0);
  }

  std::vector<float> items_ = make_items<float>(pattern::mixed, 1000003);
  float expected_ = reference::fold<float>(reference::plus{}, items_);
  std::optional<cuda_executor> here_, there_;
  std::optional<gpu_array<float>> array_here_, array_there_, out_here_, out_there_;
};

TEST_F(CudaTwoGpus, GiveTheSameBitsAndKeepTheCurrentDevice) {
  EXPECT_EQ(here_->device(), 0);
  EXPECT_EQ(there_->device(), 1);
  for (const std::int64_t n : {1, 2, 1000, 32769, 1000003}) {
    const float a = reduce(*here_, array_here_->begin(), array_here_->begin() + n);
    const float b = reduce(*there_, array_there_->begin(), array_there_->begin() + n);
    EXPECT_TRUE(same_bits(a, b)) << "n = " << n;
    EXPECT_EQ(current_device(), 0);
  }
  EXPECT_TRUE(same_bits(reduce(*there_, *array_there_), expected_));
}

TEST_F(CudaTwoGpus, AreServedFromAnyCurrentDevice) {
  reduce_into(*there_, *array_there_, out_there_->data());
  EXPECT_EQ(current_device(), 0);
  there_->synchronize();
  EXPECT_EQ(current_device(), 0);
  EXPECT_TRUE(same_bits(out_there_->to_host()[0], expected_));

  // The value of an empty range is stored by a kernel as well.
  reduce_into(*there_, array_there_->begin(), array_there_->begin(), out_there_->data(), 2.5f);
  there_->synchronize();
  EXPECT_EQ(out_there_->to_host()[0], 2.5f);

  there_->reserve(std::int64_t{1} << 22);
  EXPECT_EQ(current_device(), 0);
  EXPECT_TRUE(same_bits(reduce(*there_, *array_there_), expected_));

  must(cudaSetDevice(1));
  EXPECT_TRUE(same_bits(reduce(*here_, *array_here_), expected_));
  EXPECT_EQ(current_device(), 1);
  must(cudaSetDevice(0));
}

TEST_F(CudaTwoGpus, TakeAWorkspaceOfTheirOwnDeviceOnly) {
  must(cudaSetDevice(1));
  const gpu_array<unsigned char> space_there(1 << 20);
  must(cudaSetDevice(0));
  const gpu_array<unsigned char> space_here(1 << 20);
  expect_refused([&] { there_->use_workspace(space_here.data(), space_here.size()); });
  there_->use_workspace(space_there.data(), space_there.size());
  EXPECT_EQ(current_device(), 0);
  EXPECT_TRUE(same_bits(reduce(*there_, *array_there_), expected_));
  // It must outlive the executor.
  there_.reset();
  must(cudaSetDevice(1));
  there_.emplace();
  must(cudaSetDevice(0));
}

TEST_F(CudaTwoGpus, RefuseMemoryOfTheOther) {
  expect_refused([&] { (void)reduce(*there_, *array_here_); });
  expect_refused([&] { (void)reduce(*here_, *array_there_); });
  expect_refused([&] { reduce_into(*there_, *array_there_, out_here_->data()); });
  expect_refused([&] { reduce_into(*here_, *array_here_, out_there_->data()); });
  expect_refused([&] {
    (void)transform_reduce(*there_, array_there_->begin(), array_there_->end(),
                           array_here_->begin(), 0.0f);
  });
  const auto negated = thrust::make_transform_iterator(array_here_->data(), negation{});
  expect_refused([&] { (void)reduce(*there_, negated, negated + 3); });
  // Both are in order afterwards.
  EXPECT_TRUE(same_bits(reduce(*here_, *array_here_), expected_));
  EXPECT_TRUE(same_bits(reduce(*there_, *array_there_), expected_));
}

TEST_F(CudaTwoGpus, ShareManagedAndPinnedMemory) {
  const gpu_array<float, memory::managed> managed(items_);
  const gpu_array<float, memory::pinned> pinned(items_);
  EXPECT_TRUE(same_bits(reduce(*there_, pinned), expected_));
  EXPECT_TRUE(same_bits(reduce(*there_, managed), expected_));
  EXPECT_TRUE(same_bits(reduce(*here_, pinned), expected_));
  EXPECT_TRUE(same_bits(reduce(*here_, managed), expected_));
}

// A call without an executor runs on the current device, and so refuses memory of the other.
TEST_F(CudaTwoGpus, TheCurrentOneServesCallsWithoutExecutor) {
  EXPECT_TRUE(same_bits(tilefold::reduce(*array_here_), expected_));
  expect_refused([&] { (void)tilefold::reduce(*array_there_); });
  must(cudaSetDevice(1));
  EXPECT_TRUE(same_bits(tilefold::reduce(*array_there_), expected_));
  EXPECT_EQ(current_device(), 1);
  must(cudaSetDevice(0));
  EXPECT_TRUE(same_bits(tilefold::reduce(*array_here_), expected_));
}

#if CUDART_VERSION >= 12080
TEST_F(CudaTwoGpus, AStreamTellsItsDevice) {
  must(cudaSetDevice(1));
  const scoped_stream stream;
  must(cudaSetDevice(0));
  cuda_executor exec(stream);
  EXPECT_EQ(exec.device(), 1);
  EXPECT_TRUE(same_bits(reduce(exec, *array_there_), expected_));
  EXPECT_EQ(current_device(), 0);
}
#endif

}  // namespace
}  // namespace tilefold::test
