// SPDX-License-Identifier: Apache-2.0
//
// Reducers that compute, over floats on a GPU.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

template <class T>
class CudaFloatComputations : public ::testing::Test {};
using values = ::testing::Types<float>;
TYPED_TEST_SUITE(CudaFloatComputations, values);

TYPED_TEST(CudaFloatComputations, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_computations<TypeParam>(check_on_gpu<TypeParam>{exec});
}

}  // namespace
}  // namespace tilefold::test
