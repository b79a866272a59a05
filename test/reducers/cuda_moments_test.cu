// SPDX-License-Identifier: Apache-2.0
//
// Sums and moments on a GPU: of floats.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

TEST(CudaMoments, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_moments<float>(check_on_gpu<float>{exec});
}

}  // namespace
}  // namespace tilefold::test
