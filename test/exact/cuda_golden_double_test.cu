// SPDX-License-Identifier: Apache-2.0
//
// Exact sums and means of doubles on a GPU against committed results.
#include "cuda_golden.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactGoldenOfDoubles, SumsAndMeansAreTheCommittedOnes) {
  expect_committed_sums_and_means<double>();
}

}  // namespace
}  // namespace tilefold::test
