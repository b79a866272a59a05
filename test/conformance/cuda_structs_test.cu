// SPDX-License-Identifier: Apache-2.0
//
// One half of the struct cases of the conformance tests on a GPU; cuda_more_structs_test.cu has the
// other.
#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {
namespace {

template <class Case>
class CudaStructs : public CudaConformance<Case> {};
using cases = part_of<0, 2, struct_cases>::cases;
TYPED_TEST_SUITE(CudaStructs, cases);
TYPED_TEST(CudaStructs, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
