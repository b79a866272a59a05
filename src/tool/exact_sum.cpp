// SPDX-License-Identifier: Apache-2.0
//
// 128 bits in decimal.
#include "exact_sum.hpp"

#include <algorithm>

namespace tilefold::tool {

std::string exact_sum::decimal() const {
  const bool negative = high >> 63 != 0;
  // The magnitude, in words of 32 bits that can be divided one after the other.
  const std::uint64_t lower = negative ? ~low + 1 : low;
  const std::uint64_t upper = negative ? ~high + (low == 0 ? 1 : 0) : high;
  std::uint64_t words[4] = {upper >> 32, upper & 0xffffffff, lower >> 32, lower & 0xffffffff};
  std::string digits;
  do {
    std::uint64_t remainder = 0;
    for (std::uint64_t& word : words) {
      const std::uint64_t dividend = remainder << 32 | word;
      word = dividend / 10;
      remainder = dividend % 10;
    }
    digits += static_cast<char>('0' + remainder);
  } while (std::any_of(words, words + 4, [](std::uint64_t word) { return word != 0; }));
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace tilefold::tool
