// SPDX-License-Identifier: Apache-2.0
//
// Exact sums and means of complex doubles on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexDoubles, SumsAndMeansAreThoseOfTheParts) {
  expect_sums_and_means_of_the_parts<double>();
}

}  // namespace
}  // namespace tilefold::test
