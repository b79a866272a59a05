// SPDX-License-Identifier: Apache-2.0
//
// The function of two ranges takes an item of each, also where the result is written.
// expect: tilefold: the function must be callable with an item of each range
// never: invoke_result
#include <tilefold/tilefold.hpp>

struct square {
  float operator()(float x) const { return x * x; }
};
struct of_two {
  float operator()(float x, float y) const { return x * y; }
};

#if defined(TILEFOLD_MUST_FAIL)
using function = square;
#else
using function = of_two;
#endif

void dot(const float* first, const float* last, const float* other, float* out) {
  tilefold::transform_reduce_into(tilefold::host_executor(), first, last, other, out, 0.0f,
                                  tilefold::plus(), function());
}
