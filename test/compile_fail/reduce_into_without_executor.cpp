// SPDX-License-Identifier: Apache-2.0
//
// reduce_into() may be asynchronous, so that it needs an executor.
// expect: tilefold: the order of reduce_into is \(executor or stream, first, last, out, init, op\)
// errors: 1
#include <tilefold/tilefold.hpp>

void sum(const float* in, float* out, int n) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::reduce_into(in, in + n, out);
#else
  tilefold::reduce_into(tilefold::host_executor(), in, in + n, out);
#endif
}
