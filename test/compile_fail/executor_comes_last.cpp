// SPDX-License-Identifier: Apache-2.0
//
// A stream as the last argument, where CUB has it.
// expect: tilefold: an executor, a stream or an execution policy is the first argument of a call
// errors: 1
#include <tilefold/tilefold.hpp>

struct CUstream_st;

float sum(CUstream_st* stream, const float* x, int n) {
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::reduce(x, x + n, 0.0f, tilefold::plus{}, stream);
#else
  (void)stream;
  return tilefold::reduce(tilefold::host_executor(), x, x + n, 0.0f, tilefold::plus{});
#endif
}
