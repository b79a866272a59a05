// SPDX-License-Identifier: Apache-2.0
//
// Exact sums and means of complex floats on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexFloats, SumsAndMeansAreThoseOfTheParts) {
  expect_sums_and_means_of_the_parts<float>();
}

}  // namespace
}  // namespace tilefold::test
