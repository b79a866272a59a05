// SPDX-License-Identifier: Apache-2.0
//
// The other half of the float cases of the conformance tests on a GPU.
#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {
namespace {

template <class Case>
class CudaMoreFloats : public CudaConformance<Case> {};
using cases = part_of<1, 2, float_cases>::cases;
TYPED_TEST_SUITE(CudaMoreFloats, cases);
TYPED_TEST(CudaMoreFloats, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
