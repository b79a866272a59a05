// SPDX-License-Identifier: Apache-2.0
//
// A million small multisets, on which sums go wrong: each in one piece, shuffled, split into pieces
// and merged, and by a reducer, against MPFR. (Sizes around blocks of items have a test of their
// own, blocks_test.cpp.)
#include <tilefold/reducers/exact.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/seed.hpp"
#include "mpfr.hpp"
#include "random_items.hpp"

namespace tilefold {
namespace {

template <class T>
std::string bytes_of(const T& x) {
  return {reinterpret_cast<const char*>(&x), sizeof(T)};
}

template <class T>
class ExactMultisets : public testing::Test {};
using floats = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(ExactMultisets, floats);

TYPED_TEST(ExactMultisets, AreSummedExactlyInAnyOrderAndPieces) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  test::real expected;
  for (int m = 0; m < 250000; ++m) {
    const auto kind = static_cast<test::exact_kind>(m % test::num_exact_kinds);
    auto items = test::random_multiset<T>(kind, 1 + static_cast<int>(random() % 6), random);
    expected.clear();
    exact_accumulator<T> whole;
    for (const T x : items) {
      expected.add(test::as_double(x));
      whole.add(x);
    }
    // MPFR has a sign of zero of its own.
    const T want = expected.is_zero() ? test::zero_of(items) : expected.template rounded<T>();
    ASSERT_EQ(bytes_of(whole.value()), bytes_of(want)) << m;
    std::shuffle(items.begin(), items.end(), random);
    exact_accumulator<T> merged;
    for (std::size_t i = 0; i < items.size();) {
      const std::size_t next = std::min(items.size(), i + random() % 4);
      exact_accumulator<T> piece;
      piece.add(items.begin() + static_cast<std::ptrdiff_t>(i),
                items.begin() + static_cast<std::ptrdiff_t>(next));
      merged.merge(piece);
      i = next;
    }
    ASSERT_EQ(merged, whole) << m;
    ASSERT_EQ(bytes_of(tilefold::reduce(items, reducers::exact_sum{})), bytes_of(want)) << m;
  }
}

}  // namespace
}  // namespace tilefold
