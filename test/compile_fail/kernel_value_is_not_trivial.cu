// SPDX-License-Identifier: Apache-2.0
//
// Values that lanes exchange are bytes, too.
// expect: tilefold: values that move between threads must be trivially copyable
// errors: 1
#include <tilefold/tilefold.cuh>

struct item {
#if defined(TILEFOLD_MUST_FAIL)
  TILEFOLD_HD item(const item& other) : x(other.x) {}
#endif
  float x;
};
struct first {
  TILEFOLD_HD item operator()(const item& a, const item&) const { return a; }
};

__global__ void fold(const item* items) { (void)tilefold::warp_fold(items[threadIdx.x], first()); }
