// SPDX-License-Identifier: Apache-2.0
//
// Behind an initial value stands an operator: this one takes one value, not two.
// expect: tilefold: the operator must be callable with two values of the range
// errors: 1
// never: invoke_result
#include <tilefold/tilefold.hpp>

struct join {
  float operator()(float a, float b) const { return a + b; }
};
struct one_argument {
  float operator()(float x) const { return x; }
};

#if defined(TILEFOLD_MUST_FAIL)
using op = one_argument;
#else
using op = join;
#endif

void sum(const float* first, const float* last) { tilefold::reduce(first, last, 1.0f, op()); }
