// SPDX-License-Identifier: Apache-2.0
//
// A call of several launches that fails on the host has launched nothing: whatever the runtime can
// refuse is asked for ahead of the first launch. The linker puts this file's functions before those
// of the runtime (--wrap), which fail when a test says so.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "support/device.cuh"
#include "support/memory_resource.cuh"

namespace {
// Questions that the runtime answers before it refuses one; negative: all.
int answers_left = -1;
int refusals = 0;
int questions = 0;

bool refuse() {
  ++questions;
  if (answers_left < 0) return false;
  if (answers_left-- > 0) return false;
  answers_left = 0;
  ++refusals;
  return true;
}
}  // namespace

extern "C" {
cudaError_t __real_cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function);
cudaError_t __wrap_cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return refuse() ? cudaErrorMemoryAllocation : __real_cudaFuncGetAttributes(attributes, function);
}
cudaError_t __real_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                          const void* function,
                                                                          int nt, std::size_t bytes,
                                                                          unsigned flags);
cudaError_t __wrap_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                          const void* function,
                                                                          int nt, std::size_t bytes,
                                                                          unsigned flags) {
  return refuse() ? cudaErrorMemoryAllocation
                  : __real_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function,
                                                                                  nt, bytes, flags);
}
}

namespace tilefold::test {
namespace {

constexpr int untouched = 0x77777777;

/// Segments of all lengths, so that each of a forest's launches has work.
std::vector<int> lengths() {
  std::vector<int> all(5000, 20);
  for (std::size_t i = 0; i < all.size(); i += 100) all[i] = 3000;
  all[4999] = 200000;
  return all;
}

std::vector<int> offsets() {
  std::vector<int> all{0};
  for (const int length : lengths()) all.push_back(all.back() + length);
  return all;
}

std::vector<int> keys() {
  std::vector<int> all;
  int key = 0;
  for (const int length : lengths()) all.insert(all.end(), static_cast<std::size_t>(length), key++);
  return all;
}

class CudaPartlyWritten : public ::testing::Test {
 protected:
  ~CudaPartlyWritten() override { answers_left = -1; }

  void expect_untouched() {
    must(cudaDeviceSynchronize());
    for (const gpu_array<int>* out : {&out_, &keys_out_, &count_out_}) {
      ASSERT_EQ(out->to_host(), std::vector<int>(static_cast<std::size_t>(out->size()), untouched));
    }
  }

  /// Lets the runtime answer no question, then one, two, one, two..., until `call` gets through.
  /// Both questions about a kernel have to be answered before the answers are remembered.
  template <class Call>
  void refuse_every_question(Call call) {
    for (gpu_array<int>* out : {&out_, &keys_out_, &count_out_}) {
      must(cudaMemset(out->data(), 0x77, static_cast<std::size_t>(out->size()) * sizeof(int)));
    }
    refusals = 0;
    for (int attempt = 0; attempt < 100; ++attempt) {
      const int before = refusals;
      answers_left = attempt == 0 ? 0 : 2 - attempt % 2;
      try {
        call();
      } catch (const cuda_error& e) {
        answers_left = -1;
        ASSERT_GT(refusals, before) << e.what();
        expect_untouched();
        if (HasFatalFailure()) return;
        continue;
      }
      answers_left = -1;
      ASSERT_EQ(refusals, before);
      break;
    }
    EXPECT_GE(refusals, 3);
    executor_.synchronize();
  }

  void expect_lengths() {
    const std::vector<int> all = lengths();
    const std::vector<int> got = out_.to_host();
    EXPECT_TRUE(std::equal(all.begin(), all.end(), got.begin()));
  }

  gpu_array<int> offsets_{offsets()};
  gpu_array<int> keys_{keys()};
  gpu_array<int> ones_{std::vector<int>(static_cast<std::size_t>(keys_.size()), 1)};
  gpu_array<int> out_{5000};
  gpu_array<int> keys_out_{5000};
  gpu_array<int> count_out_{2};
  tracking_resource memory_;
  cuda_executor executor_{memory_};
};

// Of a type of its own, so that nothing is remembered of its kernels.
struct fresh_plus {
  TILEFOLD_HD int operator()(int a, int b) const { return a + b; }
};
struct other_plus {
  TILEFOLD_HD int operator()(int a, int b) const { return a + b; }
};
struct last_plus {
  TILEFOLD_HD int operator()(int a, int b) const { return a + b; }
};

TEST_F(CudaPartlyWritten, NoSegments) {
  refuse_every_question([&] {
    segmented_reduce_into(executor_, ones_.data(), offsets_.data(), 5000, out_.data(), 0,
                          fresh_plus{});
  });
  expect_lengths();
}

TEST_F(CudaPartlyWritten, NoKeys) {
  refuse_every_question([&] {
    reduce_by_key_into(executor_, keys_.begin(), keys_.end(), ones_.begin(), keys_out_.data(),
                       out_.data(), count_out_.data(), other_plus{});
  });
  expect_lengths();
  EXPECT_EQ(count_out_.to_host()[0], 5000);
}

TEST_F(CudaPartlyWritten, NothingWithoutWorkspace) {
  memory_.fail_beyond(0);
  must(cudaMemset(out_.data(), 0x77, 5000 * sizeof(int)));
  must(cudaMemset(keys_out_.data(), 0x77, 5000 * sizeof(int)));
  must(cudaMemset(count_out_.data(), 0x77, 2 * sizeof(int)));
  EXPECT_THROW(segmented_reduce_into(executor_, ones_.data(), offsets_.data(), 5000, out_.data(), 0,
                                     fresh_plus{}),
               allocation_error);
  EXPECT_THROW(reduce_by_key_into(executor_, keys_.begin(), keys_.end(), ones_.begin(),
                                  keys_out_.data(), out_.data(), count_out_.data(), other_plus{}),
               allocation_error);
  expect_untouched();
}

// A reset takes the kernels from the GPU. So the next call asks about all of them again, which
// loads them ahead of its first launch.
TEST(CudaPartlyWrittenAfterReset, KernelsAreAskedAboutAgain) {
  const auto questions_of_a_call = [] {
    const gpu_array<int> keys(tilefold::test::keys());
    const gpu_array<int> keys_out(5000);
    const gpu_array<int> out(5000);
    const gpu_array<int> count_out(1);
    cuda_executor executor;
    const int before = questions;
    for (int i = 0; i < 2; ++i) {
      reduce_by_key_into(executor, keys.begin(), keys.end(), keys.begin(), keys_out.data(),
                         out.data(), count_out.data(), last_plus{});
    }
    EXPECT_EQ(count_out.to_host()[0], 5000);
    return questions - before;
  };
  const int first = questions_of_a_call();
  EXPECT_GT(first, 0);
  EXPECT_EQ(questions_of_a_call(), 0);
  must(cudaDeviceReset());
  EXPECT_EQ(questions_of_a_call(), first);
}

}  // namespace
}  // namespace tilefold::test
