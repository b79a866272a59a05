// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of complex doubles by segment and by key on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexDoubles, ManySumsAreThoseOfTheHost) {
  expect_many_sums_of_the_host<double>();
}

}  // namespace
}  // namespace tilefold::test
