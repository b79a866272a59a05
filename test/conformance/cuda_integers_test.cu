// SPDX-License-Identifier: Apache-2.0
//
// One half of the integer cases of the conformance tests on a GPU; cuda_more_integers_test.cu has
// the other.
#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {
namespace {

template <class Case>
class CudaIntegers : public CudaConformance<Case> {};
using cases = part_of<0, 2, integer_cases>::cases;
TYPED_TEST_SUITE(CudaIntegers, cases);
TYPED_TEST(CudaIntegers, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
