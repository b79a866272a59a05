// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers of floats on a GPU against committed results.
#include "cuda_golden.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactGoldenOfFloats, SumsAndMeansAreTheCommittedOnes) {
  expect_committed_sums_and_means<float>();
}
TEST(CudaExactGoldenOfFloats, ProductsAreTheCommittedOnes) { expect_committed_products<float>(); }
TEST(CudaExactGoldenOfFloats, DotsCancelAlmostEverything) { expect_committed_dots<float>(); }

}  // namespace
}  // namespace tilefold::test
