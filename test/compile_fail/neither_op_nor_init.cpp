// SPDX-License-Identifier: Apache-2.0
//
// The third argument of reduce() is an operator or an initial value.
// expect: tilefold: the argument after the range must be an operator callable with two values of the range, or an initial value
// errors: 1
#include <string>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using third = std::string;
#else
using third = double;
#endif

auto sum(const float* first, const float* last) { return tilefold::reduce(first, last, third()); }
