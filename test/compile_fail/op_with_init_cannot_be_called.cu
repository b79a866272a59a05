// SPDX-License-Identifier: Apache-2.0
//
// The same through nvcc, without an executor and with one, returned and written.
// expect: tilefold: the operator must be callable with two values of the range
// errors: 2
// never: invoke_result
#include <tilefold/tilefold.cuh>

struct join {
  TILEFOLD_HD float operator()(float a, float b) const { return a + b; }
};
struct one_argument {
  TILEFOLD_HD float operator()(float x) const { return x; }
};

#if defined(TILEFOLD_MUST_FAIL)
using op = one_argument;
#else
using op = join;
#endif

void sum(tilefold::cuda_executor& gpu, const float* first, const float* last, float* out) {
  tilefold::reduce(first, last, 1.0f, op());
  tilefold::reduce_into(gpu, first, last, out, 1.0f, op());
}
