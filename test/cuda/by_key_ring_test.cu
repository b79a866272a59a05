// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key of structs of up to 32 bytes that come through a ring: eight to a stretch, and
// four.
#include <gtest/gtest.h>

#include "by_key_structs.cuh"

namespace tilefold::test {
namespace {

static_assert(comes_through_ring<item<16, 16>> && comes_through_ring<item<20, 4>> &&
              comes_through_ring<item<24, 4>> && comes_through_ring<item<32, 8>>);
static_assert(gpu::ring_stretch_items(16) == 8 && gpu::ring_stretch_items(20) == 4);
using structs = ::testing::Types<item<16, 16>, item<20, 4>>;
INSTANTIATE_TYPED_TEST_SUITE_P(ThroughARing, CudaByKeyOfStructs, structs);

TEST(SanitizeByKeyOfStructs, Memory) {
  fold_from_both_ends_of_memory<item<16, 16>>();
  fold_from_both_ends_of_memory<item<20, 4>>();
}

}  // namespace
}  // namespace tilefold::test
