// SPDX-License-Identifier: Apache-2.0
//
// Structs of more than 64 bytes by segment, which are not staged where a stripe is cut.
#include <cstdint>

#include <gtest/gtest.h>

#include "struct_trees_by_offsets.cuh"
#include "struct_trees_of_one_length.cuh"

namespace tilefold::test {
namespace {

using structs = testing::Types<words<std::uint32_t, 32>>;
INSTANTIATE_TYPED_TEST_SUITE_P(CutOrNotStaged, CudaStructTrees, structs);
INSTANTIATE_TYPED_TEST_SUITE_P(CutOrNotStaged, CudaStructTreesOfOneLength, structs);

}  // namespace
}  // namespace tilefold::test
