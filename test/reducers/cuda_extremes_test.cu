// SPDX-License-Identifier: Apache-2.0
//
// Reducers that select elements, on a GPU: of floats. Other programs have halves and doubles, whose
// packets are of other widths.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExtremes, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_extremes<float>(check_on_gpu<float>{exec});
}

}  // namespace
}  // namespace tilefold::test
