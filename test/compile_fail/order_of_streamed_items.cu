// SPDX-License-Identifier: Apache-2.0
//
// Items that come in parts have no other order than the neighbour tree.
// expect: tilefold: sequential_blocks is for reduce, transform_reduce
#include <tilefold/sequential_blocks.hpp>
#include <tilefold/streamed.cuh>
#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
float fold(tilefold::cuda_executor& gpu, const float* first) {
  return tilefold::reduce(tilefold::streamed(gpu), first, first + 9,
                          tilefold::sequential_blocks<8192>(tilefold::plus{}));
}
#else
float fold(tilefold::cuda_executor& gpu, const float* first) {
  return tilefold::reduce(tilefold::streamed(gpu), first, first + 9, tilefold::plus{});
}
#endif

int main() {}
