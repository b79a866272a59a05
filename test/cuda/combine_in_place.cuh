// SPDX-License-Identifier: Apache-2.0
//
// A combine that copies its left operand and changes the copy word by word, while it reads both. If
// a fold made the result in the place of an operand, it would read words that it has overwritten.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/reduce.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold::test {

struct mixed_four {
  std::uint32_t word[4];
};

// The same operator, whether its operands are apart or not; not commutative, with no identity.
struct copies_left {
  using reducer_concept = reducer_tag;
  static constexpr bool separately_rounded = true;

  TILEFOLD_HD mixed_four lift(std::uint32_t x) const { return {{x, x * 3u, x * 5u, x * 7u}}; }
  TILEFOLD_HD mixed_four combine(const mixed_four& a, const mixed_four& b) const {
    mixed_four both = a;
    for (int i = 0; i < 4; ++i) {
      both.word[i] = 3u * both.word[i] + b.word[(i + 1) % 4] + a.word[(i + 3) % 4];
    }
    return both;
  }
  TILEFOLD_HD mixed_four project(const mixed_four& x) const { return x; }
};

// Copies the right one.
struct copies_right : copies_left {
  TILEFOLD_HD mixed_four combine(const mixed_four& a, const mixed_four& b) const {
    mixed_four both = b;
    for (int i = 3; i >= 0; --i) {
      both.word[i] = 5u * both.word[i] + a.word[(i + 1) % 4] + b.word[(i + 2) % 4];
    }
    return both;
  }
};

namespace {

inline std::string bytes_of(const mixed_four& x) {
  return {reinterpret_cast<const char*>(&x), sizeof x};
}
inline std::vector<std::string> bytes_of(const std::vector<mixed_four>& values) {
  std::vector<std::string> all;
  for (const mixed_four& x : values) all.push_back(bytes_of(x));
  return all;
}

inline std::vector<std::uint32_t> items(std::int64_t n) {
  std::vector<std::uint32_t> all;
  for (std::int64_t i = 0; i < n; ++i) all.push_back(static_cast<std::uint32_t>(i * 2654435761u));
  return all;
}

template <class R>
class CudaCombineInPlace : public testing::Test {};
using reducers_that_copy = testing::Types<copies_left, copies_right>;

}  // namespace
}  // namespace tilefold::test
