// SPDX-License-Identifier: Apache-2.0
//
// Reducers that select or answer questions, over narrow numbers on a GPU.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

template <class T>
class CudaNarrowSelections : public ::testing::Test {};
using values = ::testing::Types<half, std::int16_t>;
TYPED_TEST_SUITE(CudaNarrowSelections, values);

TYPED_TEST(CudaNarrowSelections, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_selections<TypeParam>(check_on_gpu<TypeParam>{exec});
}

}  // namespace
}  // namespace tilefold::test
