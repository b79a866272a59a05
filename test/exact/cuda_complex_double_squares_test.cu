// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of squares of complex doubles on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexDoubles, SquaresAreThoseOfTheHost) {
  expect_lengths_of_the_host<double>(r::exact_sum_of_squares{});
}

}  // namespace
}  // namespace tilefold::test
