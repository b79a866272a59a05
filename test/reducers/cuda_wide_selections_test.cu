// SPDX-License-Identifier: Apache-2.0
//
// Reducers that select or answer questions, over 64-bit numbers on a GPU.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

template <class T>
class CudaWideSelections : public ::testing::Test {};
using values = ::testing::Types<double, std::int64_t>;
TYPED_TEST_SUITE(CudaWideSelections, values);

TYPED_TEST(CudaWideSelections, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_selections<TypeParam>(check_on_gpu<TypeParam>{exec});
}

}  // namespace
}  // namespace tilefold::test
