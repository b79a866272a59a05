// SPDX-License-Identifier: Apache-2.0
//
// Exact products of complex floats on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexFloats, DotsAreThoseOfTheHost) { expect_dots_of_the_host(); }
TEST(CudaExactOfComplexFloats, NormsAreThoseOfTheHost) {
  expect_lengths_of_the_host<float>(r::exact_l2{});
}
TEST(CudaExactOfComplexFloats, SquaresAreThoseOfTheHost) {
  expect_lengths_of_the_host<float>(r::exact_sum_of_squares{});
}

}  // namespace
}  // namespace tilefold::test
