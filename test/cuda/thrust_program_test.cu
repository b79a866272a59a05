// SPDX-License-Identifier: Apache-2.0
//
// A program of thrust's reductions on a GPU becomes one of tilefold's by its namespace
// (support/thrust_program.cuh), by each policy and by none. Thrust's results are of the host, which
// has no kernels to compile. On the host: thrust_program_nogpu_test.cu.
#include <vector>

#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>

#include <gtest/gtest.h>

#include "../support/device.cuh"
#include "../support/thrust_program.cuh"

namespace tilefold::test {
namespace {

TEST(CudaThrustProgram, ChangesItsNamespaceAlone) {
  SCOPED_TRACE(seed());
  const scoped_stream stream;
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{2}, std::size_t{1000}, std::size_t{100003}}) {
    const thrust::device_vector<int> x(thrust_program::items(n));
    const thrust::device_vector<int> keys(thrust_program::keys(n));
    const thrust::host_vector<int> host_x(x);
    const thrust::host_vector<int> host_keys(keys);
    const auto theirs = thrust_program::of_thrust::program(host_x, host_keys);
    EXPECT_EQ(thrust_program::of_tilefold::program(x, keys, thrust::device), theirs) << n;
    EXPECT_EQ(thrust_program::of_tilefold::program(x, keys), theirs) << n;
    EXPECT_EQ(thrust_program::of_tilefold::program(x, keys, thrust::cuda::par.on(stream)), theirs)
        << n;
    EXPECT_EQ(thrust_program::of_tilefold::program(x, keys, thrust::cuda::par_nosync.on(stream)),
              theirs)
        << n;
  }
}

}  // namespace
}  // namespace tilefold::test
