// SPDX-License-Identifier: Apache-2.0
//
// Three values of a thread are no node of the tree over the items.
// expect: tilefold: a thread's array must hold 1, 2, 4, 8... values
#include <tilefold/block_fold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
constexpr int vt = 3;
#else
constexpr int vt = 4;
#endif

__global__ void sum(const float* items, float* out) {
  __shared__ tilefold::block_storage<256, float> storage;
  float mine[vt];
  for (int j = 0; j < vt; ++j) mine[j] = items[threadIdx.x * vt + j];
  const float result = tilefold::block_fold(storage, mine, tilefold::plus{});
  if (threadIdx.x == 0) *out = result;
}
