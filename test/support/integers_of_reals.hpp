// SPDX-License-Identifier: Apache-2.0
//
// Floating numbers around the ends of every integer type, and what they are as integers: computed
// in long double, which holds all of them and all integers of 64 bits (on x86; elsewhere more).
// What the tests of the host and of the GPU share.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "items.hpp"
#include "seed.hpp"

namespace tilefold::test {

/// Both signs of: NaN, infinity, zero, subnormals, halves, powers of two up to 2^70 and their
/// neighbours, and any bits.
template <class Real>
std::vector<Real> reals_around_integers(std::uint64_t seed) {
  using limits = std::numeric_limits<Real>;
  std::vector<Real> reals{limits::quiet_NaN(), limits::infinity(), Real(0),   limits::denorm_min(),
                          Real(0.5),           Real(0.99),         Real(1.5), Real(1e20),
                          limits::max()};
  for (int k = 0; k <= 70; ++k) {
    const Real power = std::ldexp(Real(1), k);
    for (const Real x : {power - 1, std::nextafter(power, Real(0)), power,
                         std::nextafter(power, limits::infinity()), power + 1}) {
      reals.push_back(x);
    }
  }
  bit_stream bits(seed);
  for (int i = 0; i < 1000; ++i) {
    using word = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
    reals.push_back(std::bit_cast<Real>(static_cast<word>(bits.next())));
  }
  const std::size_t n = reals.size();
  for (std::size_t i = 0; i < n; ++i) reals.push_back(-reals[i]);
  return reals;
}

template <class Int, class Real>
Int integer_of(Real value) {
  using limits = std::numeric_limits<Int>;
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const auto x = static_cast<long double>(value);
  if (std::isnan(x)) return 0;
  if (x <= static_cast<long double>(limits::min())) return limits::min();
  if (x >= static_cast<long double>(limits::max())) return limits::max();
  return static_cast<Int>(std::trunc(x));
}

template <class Int, class Real, class Convert>
void expect_integers_of(const Convert& convert) {
  const auto reals = reals_around_integers<Real>(seed());
  const std::vector<Int> integers = convert(Int(), reals);
  for (std::size_t i = 0; i < reals.size(); ++i) {
    ASSERT_EQ(integers[i], (integer_of<Int, Real>(reals[i]))) << reals[i];
  }
}

/// Checks what convert(Int(), reals) makes of all of them, for every Int.
template <class Real, class Convert>
void expect_integers_of_every_type(const Convert& convert) {
  expect_integers_of<std::int8_t, Real>(convert);
  expect_integers_of<std::uint8_t, Real>(convert);
  expect_integers_of<std::int16_t, Real>(convert);
  expect_integers_of<std::uint16_t, Real>(convert);
  expect_integers_of<std::int32_t, Real>(convert);
  expect_integers_of<std::uint32_t, Real>(convert);
  expect_integers_of<std::int64_t, Real>(convert);
  expect_integers_of<std::uint64_t, Real>(convert);
}

}  // namespace tilefold::test
