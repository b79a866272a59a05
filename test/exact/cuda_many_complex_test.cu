// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of complex floats by segment and by key on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexFloats, ManySumsAreThoseOfTheHost) { expect_many_sums_of_the_host<float>(); }

}  // namespace
}  // namespace tilefold::test
