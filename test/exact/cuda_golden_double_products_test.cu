// SPDX-License-Identifier: Apache-2.0
//
// Exact products of doubles on a GPU against committed results.
#include "cuda_golden.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactGoldenOfDoubles, ProductsAreTheCommittedOnes) { expect_committed_products<double>(); }
TEST(CudaExactGoldenOfDoubles, DotsCancelAlmostEverything) { expect_committed_dots<double>(); }

}  // namespace
}  // namespace tilefold::test
