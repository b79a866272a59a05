// SPDX-License-Identifier: Apache-2.0
//
// Exact norms of complex doubles on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexDoubles, NormsAreThoseOfTheHost) {
  expect_lengths_of_the_host<double>(r::exact_l2{});
}

}  // namespace
}  // namespace tilefold::test
