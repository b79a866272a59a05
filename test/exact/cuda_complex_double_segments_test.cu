// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of complex doubles by segment of one length on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexDoubles, SumsOfSegmentsAreThoseOfTheParts) {
  expect_segments_of_the_parts<double, sums>();
}

}  // namespace
}  // namespace tilefold::test
