// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of floats on a GPU under a large tile policy of the caller's.
#include <gtest/gtest.h>

#include "cuda_policies.cuh"

namespace tilefold {
namespace {

using CudaExactPoliciesOfFloats = CudaExactPolicies<float>;

TEST_F(CudaExactPoliciesOfFloats, OfManyThreadsChangeNoBits) {
  expect_host_bits<tile_policy{256, 4}>();
}

}  // namespace
}  // namespace tilefold
