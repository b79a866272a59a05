// SPDX-License-Identifier: Apache-2.0
//
// One half of the float cases of the conformance tests on a GPU; cuda_more_floats_test.cu has the
// other.
#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {
namespace {

template <class Case>
class CudaFloats : public CudaConformance<Case> {};
using cases = part_of<0, 2, float_cases>::cases;
TYPED_TEST_SUITE(CudaFloats, cases);
TYPED_TEST(CudaFloats, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
