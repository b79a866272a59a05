// SPDX-License-Identifier: Apache-2.0
//
// The integer cases of the conformance tests on a GPU.
#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {
namespace {

template <class Case>
class CudaIntegers : public CudaConformance<Case> {};
TYPED_TEST_SUITE(CudaIntegers, integer_cases);
TYPED_TEST(CudaIntegers, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
