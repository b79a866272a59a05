// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key of structs that come through a ring: of up to 32 bytes, eight to a stretch and
// four; of up to 64 bytes and of more, two to a stretch, of which an SM holds fewer blocks.
#include <gtest/gtest.h>

#include "by_key_structs.cuh"

namespace tilefold::test {
namespace {

static_assert(comes_through_ring<item<16, 16>> && comes_through_ring<item<20, 4>> &&
              comes_through_ring<item<24, 4>> && comes_through_ring<item<32, 8>> &&
              comes_through_ring<item<48, 8>> && comes_through_ring<item<128, 4>>);
static_assert(gpu::ring_stretch_items(16) == 8 && gpu::ring_stretch_items(20) == 4);
static_assert(gpu::min_resident_by_key_blocks(48, true) !=
              gpu::min_resident_by_key_blocks(128, true));
using structs = ::testing::Types<item<16, 16>, item<20, 4>, item<48, 8>, item<128, 4>>;
INSTANTIATE_TYPED_TEST_SUITE_P(ThroughARing, CudaByKeyOfStructs, structs);

TEST(SanitizeByKeyOfStructs, Memory) {
  fold_from_both_ends_of_memory<item<16, 16>>();
  fold_from_both_ends_of_memory<item<20, 4>>();
  fold_from_both_ends_of_memory<item<48, 8>>();
  fold_from_both_ends_of_memory<item<128, 4>>();
}

}  // namespace
}  // namespace tilefold::test
