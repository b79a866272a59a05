// SPDX-License-Identifier: Apache-2.0
//
// Input, output and number of items, as CUB takes them.
// expect: tilefold: the order of reduce_into is \(executor or stream, first, last, out, init, op\)
// errors: 1
#include <tilefold/reduce.hpp>

void sum(cudaStream_t stream, const float* in, float* out, int n) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::reduce_into(stream, in, out, n);
#else
  tilefold::reduce_into(stream, in, in + n, out);
#endif
}
