// SPDX-License-Identifier: Apache-2.0
//
// Items of tests of a GPU over host memory.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace {

template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

inline std::vector<float> mixed_floats(std::int64_t n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(static_cast<float>(i * 7919 % 1009) - 504.0f, static_cast<int>(i % 24));
  }
  return x;
}

}  // namespace
