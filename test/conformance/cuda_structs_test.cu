// SPDX-License-Identifier: Apache-2.0
//
// The struct cases of the conformance tests on a GPU.
#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {
namespace {

template <class Case>
class CudaStructs : public CudaConformance<Case> {};
TYPED_TEST_SUITE(CudaStructs, struct_cases);
TYPED_TEST(CudaStructs, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
