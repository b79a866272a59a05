// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of integers, fused with counts, on a GPU under tile policies of the caller's.
#include <cstdint>

#include <gtest/gtest.h>

#include "cuda_policies.cuh"

namespace tilefold {
namespace {

using CudaExactPoliciesOfFusedInt32 = CudaExactPolicies<std::int32_t>;

TEST_F(CudaExactPoliciesOfFusedInt32, ChangeNoBits) {
  expect_fused_host_bits<tile_policy{32, 1}>();
  expect_fused_host_bits<tile_policy{256, 4}>();
}

}  // namespace
}  // namespace tilefold
