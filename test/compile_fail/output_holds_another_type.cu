// SPDX-License-Identifier: Apache-2.0
//
// A result of class type through a pointer to numbers.
// expect: tilefold: the result does not convert to the type that the output holds
// errors: 1
#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
using out_type = float*;
#else
using out_type = tilefold::reducers::extremes<float>*;
#endif

void both(tilefold::cuda_executor& gpu, const float* first, const float* last, out_type out) {
  tilefold::reduce_into(gpu, first, last, out, tilefold::reducers::minmax());
}
