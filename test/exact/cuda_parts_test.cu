// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers of floats and of bfloat16 over parts of which GPUs fold some.
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_parts.cuh"

namespace tilefold {
namespace {

TEST(CudaExactInParts, NormsOfFloatsAsDoubles) {
  expect_in_parts(mixed_items<float>(200'003), r::exact_l2<double>{});
}

TEST(CudaExactInParts, SumsOfBfloat16AsFloats) {
  expect_in_parts(mixed_items<bfloat16>(200'003), r::exact_sum<float>{});
}

}  // namespace
}  // namespace tilefold
