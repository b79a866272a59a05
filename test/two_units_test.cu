// SPDX-License-Identifier: Apache-2.0
//
// One program of two translation units, one for the C++ compiler and one for nvcc, that make the
// same calls on the same types: each must keep its own meaning, and both the same bits.
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

#include "conformance/conformance.hpp"
#include "support/device.cuh"
#include "two_units_host.hpp"

namespace tilefold::test {
namespace {

class TwoUnits : public ::testing::Test {
 protected:
  std::vector<float> items_ = make_items<float>(pattern::mixed, 100003);
  gpu_array<float> array_{items_};
  const float* first_ = items_.data();
  const float* last_ = items_.data() + items_.size();
};

TEST_F(TwoUnits, HaveTheSameBits) {
  const float expected = reference::fold<float>(reference::plus{}, items_);
  EXPECT_TRUE(same_bits(sum_in_cpp(first_, last_), expected));
  EXPECT_TRUE(same_bits(tilefold::reduce(first_, last_), expected));
  const float* device = array_.data();
  EXPECT_TRUE(same_bits(tilefold::reduce(device, device + array_.size()), expected));
  EXPECT_TRUE(same_bits(maximum_in_cpp(items_), tilefold::reduce(items_, -1.0f, maximum{})));
  EXPECT_TRUE(same_bits(dot_in_cpp(first_, last_, first_),
                        tilefold::transform_reduce(first_, last_, first_, 0.0f)));
}

TEST_F(TwoUnits, DispatchEachInItsOwnWay) {
  const std::vector<int> zeros(1000, 0);
  gpu_array<int> device(zeros);
  EXPECT_EQ(place_in_cpp(zeros.data(), zeros.data() + 1000), 1);
  EXPECT_EQ(tilefold::reduce(zeros.data(), zeros.data() + 1000, place{}), 1);
  const int* first = device.data();
  EXPECT_EQ(tilefold::reduce(first, first + 1000, place{}), 2);
}

TEST_F(TwoUnits, ShareTheGuardAgainstDeviceMemory) {
  // The C++ unit knows no CUDA, but it refuses what only the GPU can read or write.
  EXPECT_THROW((void)sum_in_cpp(array_.begin(), array_.end()), memory_space_error);
  EXPECT_THROW((void)dot_in_cpp(first_, last_, array_.data()), memory_space_error);
  EXPECT_THROW(sum_into_in_cpp(first_, last_, array_.data()), memory_space_error);
  gpu_array<float, memory::managed> managed(items_);
  EXPECT_TRUE(same_bits(sum_in_cpp(managed.begin(), managed.end()),
                        reference::fold<float>(reference::plus{}, items_)));
}

}  // namespace
}  // namespace tilefold::test
