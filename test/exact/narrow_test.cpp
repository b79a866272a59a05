// SPDX-License-Identifier: Apache-2.0
//
// The values of exact sums of few words, which a conversion rounds, against those of the same sums
// as states, which others compare with MPFR: halfway cases and one unit beside them, subnormals,
// overflow, of one word, two and three.
#include <tilefold/detail/exact/exact_state.hpp>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "../support/seed.hpp"

namespace tilefold::detail {
namespace {

template <class T>
std::string bytes_of(const T& x) {
  return {reinterpret_cast<const char*>(&x), sizeof(T)};
}

// Bits of which few are set, in a run, or at random.
std::uint64_t random_word(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  switch (random() % 4) {
    case 0:
      return 0;
    case 1:
      return std::uint64_t{1} << bits % 64;
    case 2:
      return ~std::uint64_t{0} << bits % 64;
    default:
      return bits;
  }
}

template <class T>
void expect_same(const narrow_window& sum) {
  const exact_window& wide = sum;
  ASSERT_EQ(bytes_of(value_of<T>(sum)), bytes_of(value_of<T>(wide)))
      << sum.size.word[2] << " " << sum.size.word[1] << " " << sum.size.word[0] << " 2^"
      << sum.least << (sum.negative ? ", negative" : "");
}

TEST(NarrowWindow, HasTheValueOfAnyOther) {
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 1000000; ++i) {
    narrow_window sum{};
    const int words = 1 + static_cast<int>(random() % 3);
    for (int w = 0; w < words; ++w) sum.size.word[w] = random_word(random);
    sum.negative = random() % 2 != 0;
    sum.marks = random() % 2 != 0 ? seen::other : seen::minus_zero;
    sum.least = static_cast<int>(random() % 400) - 250;
    ASSERT_NO_FATAL_FAILURE(expect_same<float>(sum));
    ASSERT_NO_FATAL_FAILURE(expect_same<half>(sum));
    if (random() % 2 != 0) sum.least = static_cast<int>(random() % 2300) - 1250;
    ASSERT_NO_FATAL_FAILURE(expect_same<double>(sum));
  }
}

}  // namespace
}  // namespace tilefold::detail
