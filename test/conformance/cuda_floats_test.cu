// SPDX-License-Identifier: Apache-2.0
//
// The float cases of the conformance tests on a GPU.
#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {
namespace {

template <class Case>
class CudaFloats : public CudaConformance<Case> {};
TYPED_TEST_SUITE(CudaFloats, float_cases);
TYPED_TEST(CudaFloats, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
