// SPDX-License-Identifier: Apache-2.0
//
// The same of transform_reduce.
// expect: tilefold: an executor, a stream or an execution policy is the first argument of a call
// errors: 1
#include <tilefold/tilefold.hpp>

struct CUstream_st;

float squares(CUstream_st* stream, const float* x, int n) {
  const auto square = [](float a) { return a * a; };
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::transform_reduce(x, x + n, 0.0f, tilefold::plus{}, square, stream);
#else
  (void)stream;
  return tilefold::transform_reduce(x, x + n, 0.0f, tilefold::plus{}, square);
#endif
}
