// SPDX-License-Identifier: Apache-2.0
//
// Norms and means of other kinds on a GPU: of halves.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

TEST(CudaHalfNorms, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_norms<half>(check_on_gpu<half>{exec});
}

}  // namespace
}  // namespace tilefold::test
