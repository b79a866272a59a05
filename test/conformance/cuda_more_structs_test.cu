// SPDX-License-Identifier: Apache-2.0
//
// The other half of the struct cases of the conformance tests on a GPU.
#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {
namespace {

template <class Case>
class CudaMoreStructs : public CudaConformance<Case> {};
using cases = part_of<1, 2, struct_cases>::cases;
TYPED_TEST_SUITE(CudaMoreStructs, cases);
TYPED_TEST(CudaMoreStructs, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
