// SPDX-License-Identifier: Apache-2.0
//
// nvcc stops with an internal error at _Float16 in device code.
// expect: tilefold: device code has no _Float16, __bf16, __float128
// errors: 1
#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
using item = _Float16;
#else
using item = tilefold::half;
#endif

float sum(tilefold::cuda_executor& exec, const item* items) {
  return tilefold::reduce(exec, items, items + 10);
}

int main() {}
