// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of floats, fused with counts, on a GPU under tile policies of the caller's.
#include <gtest/gtest.h>

#include "cuda_policies.cuh"

namespace tilefold {
namespace {

using CudaExactPoliciesOfFusedFloats = CudaExactPolicies<float>;

TEST_F(CudaExactPoliciesOfFusedFloats, ChangeNoBits) {
  expect_fused_host_bits<tile_policy{32, 1}>();
  expect_fused_host_bits<tile_policy{256, 4}>();
}

// In this program, which compiles for a shorter time than cuda_policies_float_test.
TEST_F(CudaExactPoliciesOfFusedFloats, ByKeyTheSmallestChangesNoBits) {
  expect_host_bits_by_key<tile_policy{32, 1}>();
}

}  // namespace
}  // namespace tilefold
