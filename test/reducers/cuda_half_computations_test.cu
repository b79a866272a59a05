// SPDX-License-Identifier: Apache-2.0
//
// Reducers that compute, over 16-bit floats on a GPU.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

template <class T>
class CudaHalfComputations : public ::testing::Test {};
using values = ::testing::Types<half>;
TYPED_TEST_SUITE(CudaHalfComputations, values);

TYPED_TEST(CudaHalfComputations, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_computations<TypeParam>(check_on_gpu<TypeParam>{exec});
}

}  // namespace
}  // namespace tilefold::test
