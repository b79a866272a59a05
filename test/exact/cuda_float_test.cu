// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers of ranges of floats on a GPU: the suites, and committed results.
#include "cuda_golden.cuh"
#include "cuda_suite_of_products.cuh"
#include "cuda_suite_of_sums.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExactProducts, float);
INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExact, float);

}  // namespace
}  // namespace tilefold

// Against committed results.
namespace tilefold::test {
namespace {

TEST(CudaExactGoldenOfFloats, SumsAndMeansAreTheCommittedOnes) {
  expect_committed_sums_and_means<float>();
}
TEST(CudaExactGoldenOfFloats, ProductsAreTheCommittedOnes) { expect_committed_products<float>(); }
TEST(CudaExactGoldenOfFloats, DotsCancelAlmostEverything) { expect_committed_dots<float>(); }

}  // namespace
}  // namespace tilefold::test
