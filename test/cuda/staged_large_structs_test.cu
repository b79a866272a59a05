// SPDX-License-Identifier: Apache-2.0
//
// Structs of more than 64 bytes that are folded in staged tiles, whose blocks have 64 threads.
#include <cstdint>

#include <gtest/gtest.h>

#include "conformance/cases.hpp"
#include "staged_structs.cuh"

namespace tilefold::test {
namespace {

// Few registers for a stripe and many.
using structs = testing::Types<words<std::uint32_t, 18>, words<std::uint32_t, 32>>;
static_assert(cell_of<words<std::uint32_t, 18>> == 2 && cell_of<words<std::uint32_t, 32>> == 2);
INSTANTIATE_TYPED_TEST_SUITE_P(OfMoreThan64Bytes, CudaStagedStructs, structs);

TEST(CudaStagedStructsAndMore, SanitizeCopiesOfLargeOnes) {
  expect_same_from_both(
      mixed_structs<words<std::uint32_t, 32>>(lengths<words<std::uint32_t, 32>>()[9]));
}

}  // namespace
}  // namespace tilefold::test
