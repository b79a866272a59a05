// SPDX-License-Identifier: Apache-2.0
//
// Sums and moments on a GPU: of doubles.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

TEST(CudaDoubleMoments, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_moments<double>(check_on_gpu<double>{exec});
}

}  // namespace
}  // namespace tilefold::test
