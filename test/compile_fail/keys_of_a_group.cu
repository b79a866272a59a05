// SPDX-License-Identifier: Apache-2.0
//
// A group cuts the items anywhere, and a run of keys may lie across.
// expect: tilefold: cuda_group and streamed\(\) fold single values, and segments that lie one after the other: for axes and runs of keys pass a cuda_executor
// errors: 1
#include <tilefold/cuda_group.cuh>
#include <tilefold/reduce_by_key.hpp>

void fold(tilefold::cuda_group& gpus, tilefold::cuda_executor& gpu, const int* keys,
          const float* values, int* keys_out, float* values_out) {
#if defined(TILEFOLD_MUST_FAIL)
  (void)tilefold::reduce_by_key(gpus, keys, keys + 10, values, keys_out, values_out);
#else
  (void)tilefold::reduce_by_key(gpu, keys, keys + 10, values, keys_out, values_out);
#endif
  (void)gpus;
  (void)gpu;
}

int main() {}
