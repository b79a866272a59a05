// SPDX-License-Identifier: Apache-2.0
//
// Structs by segment whose longer trees are staged, in runs of eight, four and two; those of 64
// bytes leave an SM room for fewer warps.
#include <cstdint>

#include <gtest/gtest.h>

#include "struct_trees_by_offsets.cuh"
#include "struct_trees_of_one_length.cuh"

namespace tilefold::test {
namespace {

using structs =
    testing::Types<words<std::uint32_t, 3>, words<std::uint32_t, 5>, words<std::uint64_t, 8>>;
INSTANTIATE_TYPED_TEST_SUITE_P(InRuns, CudaStructTrees, structs);
INSTANTIATE_TYPED_TEST_SUITE_P(InRuns, CudaStructTreesOfOneLength, structs);

}  // namespace
}  // namespace tilefold::test
