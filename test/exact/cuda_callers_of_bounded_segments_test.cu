// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of segments on a GPU that are promised to be short, and of a number of them that only
// the GPU knows. Each has the bits of the host.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>
#include <tilefold/segment_bound.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "cuda_callers.cuh"

namespace tilefold {
namespace {

TYPED_TEST_SUITE(CudaExactSegmentCalls, testing::Types<float>);

TYPED_TEST(CudaExactSegmentCalls, OfABoundAndOfANumberOnTheGpu) {
  segmented_reduce_into(this->gpu, this->x(), this->at(), this->num, segment_bound(39),
                        this->out.data(), r::exact_sum{});
  this->expect_sums("a bound");
  const gpu_array<std::int64_t> number(std::vector<std::int64_t>{this->num});
  segmented_reduce_into(this->gpu, this->x(), this->at(), deferred(number.data(), 4096),
                        this->out.data(), r::exact_sum{});
  this->expect_sums("a number on the GPU");
}

}  // namespace
}  // namespace tilefold
