// SPDX-License-Identifier: Apache-2.0
//
// The function of one range takes one item: the sentence through nvcc.
// expect: tilefold: the function must be callable with an item of each range
// errors: 1
// never: invoke_result
#include <tilefold/tilefold.cuh>

struct square {
  TILEFOLD_HD float operator()(float x) const { return x * x; }
};
struct of_two {
  TILEFOLD_HD float operator()(float x, float y) const { return x * y; }
};

#if defined(TILEFOLD_MUST_FAIL)
using function = of_two;
#else
using function = square;
#endif

void sum(tilefold::cuda_executor& gpu, const float* first, const float* last) {
  tilefold::transform_reduce(gpu, first, last, 0.0f, tilefold::plus(), function());
}
