// SPDX-License-Identifier: Apache-2.0
//
// Norms and means of other kinds on a GPU: of floats.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

TEST(CudaNorms, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_norms<float>(check_on_gpu<float>{exec});
}

}  // namespace
}  // namespace tilefold::test
