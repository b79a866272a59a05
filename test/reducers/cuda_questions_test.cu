// SPDX-License-Identifier: Apache-2.0
//
// Reducers that answer questions, on a GPU: of floats and of integers.
#include <cstdint>

#include "cuda_reducers.cuh"
#include "questions.hpp"

namespace tilefold::test {
namespace {

template <class T>
class CudaQuestions : public ::testing::Test {};
using values = ::testing::Types<float, std::int16_t>;
TYPED_TEST_SUITE(CudaQuestions, values);

TYPED_TEST(CudaQuestions, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_questions<TypeParam>(check_on_gpu<TypeParam>{exec});
}

}  // namespace
}  // namespace tilefold::test
