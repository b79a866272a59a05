// SPDX-License-Identifier: Apache-2.0
//
// The other half of the integer cases of the conformance tests on a GPU.
#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {
namespace {

template <class Case>
class CudaMoreIntegers : public CudaConformance<Case> {};
using cases = part_of<1, 2, integer_cases>::cases;
TYPED_TEST_SUITE(CudaMoreIntegers, cases);
TYPED_TEST(CudaMoreIntegers, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
