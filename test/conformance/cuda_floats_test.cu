// SPDX-License-Identifier: Apache-2.0
//
// The float cases and the narrow ones of the conformance tests on a GPU.
#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {
namespace {

template <class Case>
class CudaFloats : public CudaConformance<Case> {};
TYPED_TEST_SUITE(CudaFloats, float_cases);
TYPED_TEST(CudaFloats, HaveTheBitsOfTheOracle) { this->run(); }

template <class Case>
class CudaNarrowFloats : public CudaConformance<Case> {};
TYPED_TEST_SUITE(CudaNarrowFloats, narrow_cases);
TYPED_TEST(CudaNarrowFloats, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
