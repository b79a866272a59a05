// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of complex floats by offsets and by key on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexFloats, SumsByOffsetsAreThoseOfTheHost) {
  expect_sums_by_offsets_of_the_host<float>();
}
TEST(CudaExactOfComplexFloats, SumsByKeyAreThoseOfTheHost) {
  expect_sums_by_key_of_the_host<float>();
}

}  // namespace
}  // namespace tilefold::test
