// SPDX-License-Identifier: Apache-2.0
//
// Reducers of two ranges on a GPU.
#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

template <class T>
class CudaPairs : public ::testing::Test {};
using values = ::testing::Types<float, double, half, std::int32_t>;
TYPED_TEST_SUITE(CudaPairs, values);

TYPED_TEST(CudaPairs, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_pair_reducers<TypeParam>(check_pairs_on_gpu<TypeParam>{exec});
}

}  // namespace
}  // namespace tilefold::test
