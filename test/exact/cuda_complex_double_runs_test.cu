// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of complex doubles by key on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexDoubles, SumsByKeyAreThoseOfTheHost) {
  expect_sums_by_key_of_the_host<double>();
}

}  // namespace
}  // namespace tilefold::test
