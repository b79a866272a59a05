// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of segments on a GPU that are promised to be short, of a number of them that only the
// GPU knows, with offsets that are checked first, and with an initial value. Each has the bits of
// the host. Of floats: what such a call adds to one by offsets alone does not read the items.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/checked.hpp>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reduce.hpp>
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

TYPED_TEST(CudaExactSegmentCalls, CheckedAndWithAnInitialValue) {
  using T = TypeParam;
  segmented_reduce(checked(this->gpu, this->num_items()), this->x(), this->at(), this->num,
                   this->out.data(), r::exact_sum{});
  this->expect_sums("checked");
  exact_accumulator<T> init;
  init.add(T{1});
  segmented_reduce_into(this->gpu, this->x(), this->at(), this->num, this->out.data(), init,
                        r::exact_sum{});
  this->expect("an initial value", [&](const T* first, const T* last) {
    return reduce(one, first, last, init, r::exact_sum{});
  });
}

}  // namespace
}  // namespace tilefold
