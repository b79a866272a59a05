// SPDX-License-Identifier: Apache-2.0
//
// No GPU runs 2048 threads in a block.
// expect: tilefold: tile_policy\{nt, vt\} needs powers of two with 32 <= nt <= 1024
#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
constexpr tilefold::tile_policy policy{2048, 4};
#else
constexpr tilefold::tile_policy policy{1024, 4};
#endif

float sum(tilefold::cuda_executor& gpu, const float* first, const float* last) {
  auto tuned = tilefold::with_policy<policy>(gpu);
  return tilefold::reduce(tuned, first, last);
}
