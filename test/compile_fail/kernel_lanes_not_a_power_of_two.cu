// SPDX-License-Identifier: Apache-2.0
//
// A warp cannot be cut into groups of 12 lanes.
// expect: tilefold: a warp_fold takes 2, 4, 8, 16 or 32 lanes
#include <tilefold/block_fold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
constexpr int lanes = 12;
#else
constexpr int lanes = 16;
#endif

__global__ void sum(float* items) {
  items[threadIdx.x] = tilefold::warp_fold<lanes>(items[threadIdx.x], tilefold::plus{});
}
