// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers of ranges of halves on a GPU: the suites, and committed results.
#include "cuda_golden.cuh"
#include "cuda_suite_of_products.cuh"
#include "cuda_suite_of_sums.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExactProducts, half);
INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExact, half);

}  // namespace
}  // namespace tilefold

// Against committed results.
namespace tilefold::test {
namespace {

TEST(CudaExactGoldenOfHalves, SumsAndMeansAreTheCommittedOnes) {
  expect_committed_sums_and_means<half>();
}
TEST(CudaExactGoldenOfHalves, ProductsAreTheCommittedOnes) { expect_committed_products<half>(); }

}  // namespace
}  // namespace tilefold::test
