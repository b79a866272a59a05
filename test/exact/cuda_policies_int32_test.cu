// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of integers on a GPU under a tile policy of the caller's.
#include <cstdint>

#include <gtest/gtest.h>

#include "cuda_policies.cuh"

namespace tilefold {
namespace {

using CudaExactPoliciesOfInt32 = CudaExactPolicies<std::int32_t>;

TEST_F(CudaExactPoliciesOfInt32, ChangeNoBits) {
  expect_host_bits<tile_policy{256, 4}>();
  expect_host_bits_by_key<tile_policy{256, 4}>();
}

}  // namespace
}  // namespace tilefold
