// SPDX-License-Identifier: Apache-2.0
//
// What a compiler would take many minutes over is refused.
// expect: tilefold: a GPU has no exact dot product of complex numbers of doubles
#include <thrust/complex.h>

#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
using item = thrust::complex<double>;
#else
using item = thrust::complex<float>;
#endif

__global__ void dot(const item* x, item* out) {
  const tilefold::reducers::exact_dot<> reducer;
  *out = reducer.project(reducer.lift(x[0], x[1]));
}
