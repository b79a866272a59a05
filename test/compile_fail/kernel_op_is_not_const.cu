// SPDX-License-Identifier: Apache-2.0
//
// An operator() that is not const, in a kernel.
// expect: tilefold: operator\(\) of an operator, function, predicate or comparator must be const
// errors: 1
#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
#define MAYBE_CONST
#else
#define MAYBE_CONST const
#endif

struct join {
  TILEFOLD_HD float operator()(float a, float b) MAYBE_CONST { return a + b; }
};

__global__ void fold(float* values) {
  values[threadIdx.x] = tilefold::warp_fold(values[threadIdx.x], join());
}
