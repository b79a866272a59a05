// SPDX-License-Identifier: Apache-2.0
//
// Statistics are of numbers.
// expect: tilefold: this reducer does not take items of this type
// errors: 1
#include <string>
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using item = std::string;
#else
using item = int;
#endif

auto fold(const std::vector<item>& x) { return tilefold::mean(x); }
