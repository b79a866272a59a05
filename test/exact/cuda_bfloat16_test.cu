// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers of ranges of bfloat16 on a GPU: the suites, and committed results.
#include "cuda_golden.cuh"
#include "cuda_suite_of_products.cuh"
#include "cuda_suite_of_sums.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExactProducts, bfloat16);
INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExact, bfloat16);

}  // namespace
}  // namespace tilefold

// Against committed results.
namespace tilefold::test {
namespace {

TEST(CudaExactGoldenOfBfloat16, SumsAndMeansAreTheCommittedOnes) {
  expect_committed_sums_and_means<bfloat16>();
}
TEST(CudaExactGoldenOfBfloat16, ProductsAreTheCommittedOnes) {
  expect_committed_products<bfloat16>();
}

}  // namespace
}  // namespace tilefold::test
