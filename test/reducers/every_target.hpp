// SPDX-License-Identifier: Apache-2.0
//
// A reducer on the host under every instruction set that this machine has.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/detail/host/simd.hpp>

#include "cases.hpp"

namespace tilefold::test {

/// Each gives the definition's bits.
template <class R, class T>
void expect_definition_of(const R& reducer, const std::vector<T>& x) {
  const std::string expected = bits_of(by_definition(reducer, x));
  for (int i = 0; const char* target = detail::host::simd_target(i); ++i) {
    detail::host::use_simd_target(target);
    EXPECT_EQ(bits_of(tilefold::reduce(x, reducer)), expected) << target;
  }
  detail::host::use_simd_target(nullptr);
}

}  // namespace tilefold::test
