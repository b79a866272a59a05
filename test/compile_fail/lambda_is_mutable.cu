// SPDX-License-Identifier: Apache-2.0
//
// The common case of an operator() that is not const, through nvcc and without an executor.
// expect: tilefold: operator\(\) of an operator, function, predicate or comparator must be const
// errors: 1
// options: --extended-lambda
#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
#define MAYBE_MUTABLE mutable
#else
#define MAYBE_MUTABLE
#endif

float sum(const float* first, const float* last) {
  float calls = 0;
  return tilefold::reduce(first, last, [calls] __host__ __device__(float a, float b) MAYBE_MUTABLE {
    return a + b + calls;
  });
}
