// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of complex doubles by offsets on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexDoubles, SumsByOffsetsAreThoseOfTheHost) {
  expect_sums_by_offsets_of_the_host<double>();
}

}  // namespace
}  // namespace tilefold::test
