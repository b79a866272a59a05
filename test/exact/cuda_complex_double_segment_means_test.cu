// SPDX-License-Identifier: Apache-2.0
//
// Exact means of complex doubles by segment of one length on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexDoubles, MeansOfSegmentsAreThoseOfTheParts) {
  expect_segments_of_the_parts<double, means>();
}

}  // namespace
}  // namespace tilefold::test
