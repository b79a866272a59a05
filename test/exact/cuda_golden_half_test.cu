// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers of halves on a GPU against committed results.
#include "cuda_golden.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactGoldenOfHalves, SumsAndMeansAreTheCommittedOnes) {
  expect_committed_sums_and_means<half>();
}
TEST(CudaExactGoldenOfHalves, ProductsAreTheCommittedOnes) { expect_committed_products<half>(); }

}  // namespace
}  // namespace tilefold::test
