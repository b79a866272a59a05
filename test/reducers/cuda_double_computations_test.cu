// SPDX-License-Identifier: Apache-2.0
//
// Reducers that compute, over doubles on a GPU.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

template <class T>
class CudaDoubleComputations : public ::testing::Test {};
using values = ::testing::Types<double>;
TYPED_TEST_SUITE(CudaDoubleComputations, values);

TYPED_TEST(CudaDoubleComputations, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_computations<TypeParam>(check_on_gpu<TypeParam>{exec});
}

}  // namespace
}  // namespace tilefold::test
