// SPDX-License-Identifier: Apache-2.0
//
// Statistics are of numbers, without a unit.
// expect: tilefold: this reducer does not take items of this type
// errors: 1
#include <chrono>
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using item = std::chrono::seconds;
#else
using item = double;
#endif

auto fold(const std::vector<item>& x) { return tilefold::mean(x); }
