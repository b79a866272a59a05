// SPDX-License-Identifier: Apache-2.0
//
// Exact means of complex doubles on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexDoubles, MeansAreThoseOfTheParts) {
  expect_ranges_of_the_parts<double, means>();
}

}  // namespace
}  // namespace tilefold::test
