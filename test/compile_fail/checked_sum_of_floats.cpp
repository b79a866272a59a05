// SPDX-License-Identifier: Apache-2.0
//
// Whether a sum fits is asked of integers.
// expect: tilefold: checked_sum takes integers and bool; for floating and complex numbers there is exact_sum
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using item = float;
#else
using item = int;
#endif

auto fold(const std::vector<item>& x) {
  return tilefold::reduce(x, tilefold::reducers::checked_sum{});
}
