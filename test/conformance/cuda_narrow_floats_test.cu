// SPDX-License-Identifier: Apache-2.0
//
// The narrow cases of the conformance tests on a GPU.
#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {
namespace {

template <class Case>
class CudaNarrowFloats : public CudaConformance<Case> {};
TYPED_TEST_SUITE(CudaNarrowFloats, narrow_cases);
TYPED_TEST(CudaNarrowFloats, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
