// SPDX-License-Identifier: Apache-2.0
//
// Exact sums and means of complex floats on a GPU. (Means of segments are of complex doubles.)
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexFloats, SumsAreThoseOfTheParts) {
  expect_ranges_of_the_parts<float, sums>();
}
TEST(CudaExactOfComplexFloats, MeansAreThoseOfTheParts) {
  expect_ranges_of_the_parts<float, means>();
}
TEST(CudaExactOfComplexFloats, SumsOfSegmentsAreThoseOfTheParts) {
  expect_segments_of_the_parts<float, sums>();
}

}  // namespace
}  // namespace tilefold::test
