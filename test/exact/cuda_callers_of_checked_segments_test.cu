// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of segments on a GPU whose offsets are checked first, and with an initial value. Each
// has the bits of the host.
#include <gtest/gtest.h>

#include <tilefold/checked.hpp>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "cuda_callers.cuh"

namespace tilefold {
namespace {

TYPED_TEST_SUITE(CudaExactSegmentCalls, testing::Types<double>);

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
