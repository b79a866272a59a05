// SPDX-License-Identifier: Apache-2.0
//
// What an accumulator that was read from bytes says of its items: how many they are, where some of
// them stand. A checksum does not tell whether that is true, and combine() and project() believe
// it. Host only.
#pragma once

#include <cstdint>
#include <cstring>

namespace tilefold::detail {

/// hold(accumulator, begin, end): whether items [begin, end) of a sequence, at least one, can leave
/// the accumulator, as far as its own members tell. True for types that say nothing of their items.
/// Specialized beside the accumulators.
template <class Acc>
struct block_claims {
  static bool hold(const Acc&, std::int64_t, std::int64_t) { return true; }
};

/// A bool is 0 or 1; to read another byte as one is undefined.
template <>
struct block_claims<bool> {
  static bool hold(const bool& value, std::int64_t, std::int64_t) {
    unsigned char byte;
    std::memcpy(&byte, __builtin_addressof(value), 1);
    return byte <= 1;
  }
};

/// The claims of accumulators whose member `count` is the number of their items.
struct counted_claims {
  template <class Acc>
  static bool hold(const Acc& acc, std::int64_t begin, std::int64_t end) {
    return acc.count == static_cast<decltype(acc.count)>(end - begin);
  }
};

}  // namespace tilefold::detail
