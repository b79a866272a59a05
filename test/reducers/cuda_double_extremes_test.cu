// SPDX-License-Identifier: Apache-2.0
//
// Reducers that select elements, on a GPU: of doubles.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

TEST(CudaDoubleExtremes, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_extremes<double>(check_on_gpu<double>{exec});
}

}  // namespace
}  // namespace tilefold::test
