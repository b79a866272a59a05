// SPDX-License-Identifier: Apache-2.0
//
// Norms that the host folds with vector instructions: the definition's bits under every instruction
// set, at the ends of vectors and blocks, and where a block holds items whose squares leave the
// range of doubles.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/seed.hpp"
#include "every_target.hpp"

namespace tilefold::test {
namespace {

template <class T>
void expect_definition(const std::vector<T>& x, const std::string& what) {
  SCOPED_TRACE(what + ", n = " + std::to_string(x.size()));
  expect_definition_of(r::l2{}, x);
  expect_definition_of(r::rms{}, x);
}

template <class T>
void expect_definition_of_all_kinds() {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  for (const std::int64_t n :
       {1,    2,    3,    5,    8,    31,   32,   33,   63,   64,   100,   255,   257,   1000,
        2047, 2048, 2049, 4095, 4096, 4099, 6144, 6145, 8192, 9000, 16384, 16385, 20011, 200003}) {
    expect_definition(make_items<T>(pattern::near_one, n, seed()), "near one");
    expect_definition(make_items<T>(pattern::mixed, n, seed()), "mixed");
    expect_definition(make_items<T>(pattern::any_bits, n, seed()), "any bits");
  }
  for (const pattern p : reducer_patterns<T>()) {
    expect_definition(make_items<T>(p, 20011, seed()), name_of(p));
  }
}

TEST(NormsByBlocks, HaveTheDefinitionsBits) {
  expect_definition_of_all_kinds<float>();
  expect_definition_of_all_kinds<double>();
}

// On both sides of the sizes beyond which squares are scaled.
TEST(NormsByBlocks, SeeItemsOfOtherSizesAnywhere) {
  using limits = std::numeric_limits<double>;
  const double big = 0x1p450;
  const double small = 0x1p-450;
  const double values[] = {0.0,
                           -0.0,
                           big,
                           std::nextafter(big, 2 * big),
                           -2 * big,
                           limits::max(),
                           small,
                           std::nextafter(small, 0.0),
                           -small / 2,
                           limits::min(),
                           limits::denorm_min(),
                           limits::infinity(),
                           -limits::infinity(),
                           limits::quiet_NaN()};
  // Ordinary items, items whose ordinary squares do not count beside a big one, and small ones.
  for (const int exponent : {0, 449, -449, -460}) {
    auto x = make_items<double>(pattern::near_one, 6200, seed());
    for (double& value : x) value = std::ldexp(std::fmod(value, 1.0), exponent);
    for (const std::size_t place : {0, 1, 31, 32, 2047, 2048, 4095, 4096, 6143, 6144, 6180, 6199}) {
      const double before = x[place];
      for (const double value : values) {
        x[place] = value;
        expect_definition(x, std::to_string(value) + " at " + std::to_string(place) +
                                 " of items of exponent " + std::to_string(exponent));
      }
      x[place] = before;
    }
  }
}

}  // namespace
}  // namespace tilefold::test
