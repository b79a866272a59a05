// SPDX-License-Identifier: Apache-2.0
//
// A program of thrust's reductions on the host becomes one of tilefold's by its namespace
// (support/thrust_program.cuh). On a GPU: cuda/thrust_program_test.cu.
#include <vector>

#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>

#include <gtest/gtest.h>

#include "../support/thrust_program.cuh"

namespace tilefold::test {
namespace {

TEST(ThrustProgramOnHost, ChangesItsNamespaceAlone) {
  SCOPED_TRACE(seed());
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{2}, std::size_t{1000}, std::size_t{100003}}) {
    const thrust::host_vector<int> x(thrust_program::items(n));
    const thrust::host_vector<int> keys(thrust_program::keys(n));
    const auto theirs = thrust_program::of_thrust::program(x, keys, thrust::host);
    EXPECT_EQ(thrust_program::of_tilefold::program(x, keys, thrust::host), theirs) << n;
    EXPECT_EQ(thrust_program::of_thrust::program(x, keys), theirs) << n;
    EXPECT_EQ(thrust_program::of_tilefold::program(x, keys), theirs) << n;
  }
}

}  // namespace
}  // namespace tilefold::test
