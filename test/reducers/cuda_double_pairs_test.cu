// SPDX-License-Identifier: Apache-2.0
//
// Reducers of two ranges on a GPU: of doubles.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

TEST(CudaDoublePairs, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_pair_reducers<double>(check_pairs_on_gpu<double>{exec});
}

}  // namespace
}  // namespace tilefold::test
