// SPDX-License-Identifier: Apache-2.0
//
// Bits are of integers.
// expect: tilefold: this reducer does not take items of this type
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using item = float;
#else
using item = int;
#endif

auto fold(const std::vector<item>& x) { return tilefold::reduce(x, tilefold::reducers::bit_or{}); }
