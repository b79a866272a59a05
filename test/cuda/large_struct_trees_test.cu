// SPDX-License-Identifier: Apache-2.0
//
// Structs by segment: those of more than 64 bytes are not staged where a row is cut, and runs of 44
// and of 88 bytes would be too long for shared memory.
#include <cstdint>

#include <gtest/gtest.h>

#include "staged_struct_trees.cuh"

namespace tilefold::test {
namespace {

using structs =
    testing::Types<words<std::uint32_t, 32>, words<std::uint32_t, 11>, words<std::uint64_t, 11>>;
INSTANTIATE_TYPED_TEST_SUITE_P(CutOrNotStaged, CudaStructTrees, structs);

}  // namespace
}  // namespace tilefold::test
