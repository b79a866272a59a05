// SPDX-License-Identifier: Apache-2.0
//
// Exact products of ranges of doubles on a GPU: the suite, and committed results.
#include "cuda_golden.cuh"
#include "cuda_suite_of_products.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExactProducts, double);

}  // namespace
}  // namespace tilefold

// Against committed results.
namespace tilefold::test {
namespace {

TEST(CudaExactGoldenOfDoubles, ProductsAreTheCommittedOnes) { expect_committed_products<double>(); }
TEST(CudaExactGoldenOfDoubles, DotsCancelAlmostEverything) { expect_committed_dots<double>(); }

}  // namespace
}  // namespace tilefold::test
