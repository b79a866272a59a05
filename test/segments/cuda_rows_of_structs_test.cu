// SPDX-License-Identifier: Apache-2.0
//
// Rows of one length of structs and of narrow items: the host's bits, whichever kernel takes them.
#include <cstdint>

#include <gtest/gtest.h>

#include "cuda_rows.cuh"

namespace tilefold::test {
namespace {

TEST(CudaRowsOfOtherItems, OfStructs) {
  have_the_hosts_bits<words<std::uint32_t, 3>, words<std::uint32_t, 3>>(
      shapes(), mix_rows<words<std::uint32_t, 3>>{});
  have_the_hosts_bits<words<std::uint32_t, 4>, words<std::uint32_t, 4>>(
      shapes(), mix_rows<words<std::uint32_t, 4>>{});
  have_the_hosts_bits<words<std::uint32_t, 8>, words<std::uint32_t, 8>>(
      shapes(), mix_rows<words<std::uint32_t, 8>>{});
}

TEST(CudaRowsOfOtherItems, OfNarrowItems) {
  have_the_hosts_bits<words<std::uint8_t, 1>, words<std::uint8_t, 1>>(
      shapes(), mix_rows<words<std::uint8_t, 1>>{});
  have_the_hosts_bits<words<std::uint16_t, 1>, words<std::uint16_t, 1>>(
      shapes(), mix_rows<words<std::uint16_t, 1>>{});
}

TEST(CudaRowsOfOtherItems, OfAccumulatorsTooLargeForThem) {
  using item = words<std::uint32_t, 16>;
  have_the_hosts_bits<item, item>({{1, 100}, {3, 33}, {17, 1000}, {2, 9999}}, mix_rows<item>{});
}

TEST(CudaRowsOfOtherItems, OfMoreBlocksThanAGpuHolds) {
  many_have_the_hosts_bits<words<std::uint16_t, 1>>({300, 151936}, 17);
  many_have_the_hosts_bits<words<std::uint32_t, 4>>({1030, 4097}, 31);
}

}  // namespace
}  // namespace tilefold::test
