// SPDX-License-Identifier: Apache-2.0
//
// An operator on pointers cannot fold floats.
// expect: tilefold: the operator must be callable with two of the values
#include <tilefold/block_fold.cuh>

struct first_of {
#if defined(TILEFOLD_MUST_FAIL)
  __device__ float operator()(const float* a, const float*) const { return *a; }
#else
  __device__ float operator()(float a, float) const { return a; }
#endif
};

__global__ void fold(float* items) {
  items[threadIdx.x] = tilefold::warp_fold(items[threadIdx.x], first_of{});
}
