// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of floats on a GPU under the smallest tile policy and a large one. In one program,
// since they share the kernels that no policy changes.
#include <gtest/gtest.h>

#include "cuda_policies.cuh"

namespace tilefold {
namespace {

using CudaExactPoliciesOfFloats = CudaExactPolicies<float>;

TEST_F(CudaExactPoliciesOfFloats, ChangeNoBits) { expect_host_bits<tile_policy{32, 1}>(); }
TEST_F(CudaExactPoliciesOfFloats, OfManyThreadsChangeNoBits) {
  expect_host_bits<tile_policy{256, 4}>();
  expect_host_bits_by_key<tile_policy{256, 4}>();
}

}  // namespace
}  // namespace tilefold
