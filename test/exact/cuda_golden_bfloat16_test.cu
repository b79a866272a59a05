// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers of bfloat16 on a GPU against committed results.
#include "cuda_golden.cuh"

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
