// SPDX-License-Identifier: Apache-2.0
//
// Bits that are no numbers, on a GPU: std::byte, and an enumeration with operators of its own.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <tilefold/cuda.cuh>

#include "every_verb.cuh"
#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

enum class access : std::uint16_t {};
TILEFOLD_HD constexpr access operator|(access a, access b) {
  return static_cast<access>(static_cast<int>(a) | static_cast<int>(b));
}

TEST(CudaBitTypes, BitsOfEveryTypeThatHasTheOperationAreJoined) {
  SCOPED_TRACE(seed());
  bit_stream random(seed());
  std::vector<std::byte> one_bit, rarely_set, rarely_missing;
  std::vector<access> rights;
  for (int i = 0; i < 70001; ++i) {
    const auto bit = static_cast<std::byte>(1u << random.below(8));
    one_bit.push_back(bit);
    // So rare that most segments and runs keep some bits and lose others.
    const bool rare = random.below(50) == 0;
    rarely_set.push_back(rare ? bit : std::byte{0});
    rarely_missing.push_back(rare ? ~bit : std::byte{0xff});
    rights.push_back(static_cast<access>(rare ? std::to_integer<unsigned>(bit) << 8 : 0u));
  }
  is_folded_by_every_verb(rarely_set, std::byte{0}, std::bit_or<>());
  is_folded_by_every_verb(rights, access{}, std::bit_or<>());
  // The same kernels but for the operation.
  is_reduced(rarely_missing, std::byte{0xff}, std::bit_and<>());
  is_reduced(one_bit, std::byte{0x55}, std::bit_xor<std::byte>());
}

}  // namespace
}  // namespace tilefold::test
