// SPDX-License-Identifier: Apache-2.0
//
// Reducers that select elements, on a GPU: of halves.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

TEST(CudaHalfExtremes, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_extremes<half>(check_on_gpu<half>{exec});
}

}  // namespace
}  // namespace tilefold::test
