// SPDX-License-Identifier: Apache-2.0
//
// A group cuts the items before its GPUs begin, so the host has to know how many there are.
// expect: tilefold: cuda_group and streamed\(\) take no deferred sizes: the host has to know them to cut the items
// errors: 1
#include <tilefold/cuda_group.cuh>
#include <tilefold/deferred.hpp>
#include <tilefold/segmented_reduce.hpp>

void fold(tilefold::cuda_group& gpus, tilefold::cuda_executor& gpu, const float* first,
          const std::int64_t* n, float* out) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::reduce_into(gpus, first, tilefold::deferred(n, 10), out);
#else
  tilefold::reduce_into(gpu, first, tilefold::deferred(n, 10), out);
#endif
  (void)gpus;
  (void)gpu;
}

int main() {}
