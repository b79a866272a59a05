// SPDX-License-Identifier: Apache-2.0
//
// Structs by segment whose runs of 44 bytes would be too long for shared memory.
#include <cstdint>

#include <gtest/gtest.h>

#include "struct_trees_by_offsets.cuh"
#include "struct_trees_of_one_length.cuh"

namespace tilefold::test {
namespace {

using structs = testing::Types<words<std::uint32_t, 11>>;
INSTANTIATE_TYPED_TEST_SUITE_P(CutOrNotStaged, CudaStructTrees, structs);
INSTANTIATE_TYPED_TEST_SUITE_P(CutOrNotStaged, CudaStructTreesOfOneLength, structs);

}  // namespace
}  // namespace tilefold::test
