// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of floats on a GPU under the smallest tile policy.
#include <gtest/gtest.h>

#include "cuda_policies.cuh"

namespace tilefold {
namespace {

using CudaExactPoliciesOfFloats = CudaExactPolicies<float>;

TEST_F(CudaExactPoliciesOfFloats, ChangeNoBits) { expect_host_bits<tile_policy{32, 1}>(); }

}  // namespace
}  // namespace tilefold
