// SPDX-License-Identifier: Apache-2.0
//
// Reducers that select or answer questions, over floats on a GPU.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

template <class T>
class CudaFloatSelections : public ::testing::Test {};
using values = ::testing::Types<float>;
TYPED_TEST_SUITE(CudaFloatSelections, values);

TYPED_TEST(CudaFloatSelections, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_selections<TypeParam>(check_on_gpu<TypeParam>{exec});
}

}  // namespace
}  // namespace tilefold::test
