// SPDX-License-Identifier: Apache-2.0
//
// The sentence about the third argument, through nvcc and without an executor.
// expect: tilefold: the argument after the range must be an operator callable with two values of the range, or an initial value
// errors: 1
#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
using third = const char*;
#else
using third = float;
#endif

auto sum(const float* first, const float* last) { return tilefold::reduce(first, last, third()); }
