// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of complex doubles on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexDoubles, SumsAreThoseOfTheParts) {
  expect_ranges_of_the_parts<double, sums>();
}

}  // namespace
}  // namespace tilefold::test
