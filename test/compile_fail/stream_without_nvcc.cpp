// SPDX-License-Identifier: Apache-2.0
//
// A stream stands for an executor, but a C++ compiler alone has no GPU to offer.
// expect: tilefold: a CUDA stream stands for an executor only where nvcc compiles
// errors: 1
#include <tilefold/tilefold.hpp>

struct CUstream_st;

void fold(CUstream_st* stream, const float* items, float* out) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::reduce_into(stream, items, items + 3, out);
#else
  (void)stream;
  tilefold::reduce_into(tilefold::host_executor(), items, items + 3, out);
#endif
}

int main() {}
