// SPDX-License-Identifier: Apache-2.0
//
// A group cuts the items anywhere, and those of one index lie in all parts.
// expect: tilefold: reduce_by_index needs a host_executor or a cuda_executor: ranks, cuda_group and streamed\(\) cannot sort items that they do not hold together
// errors: 1
#include <tilefold/cuda_group.cuh>
#include <tilefold/reduce_by_index.hpp>

void fold(tilefold::cuda_group& gpus, tilefold::cuda_executor& gpu, const int* indices,
          const float* values, float* out) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::reduce_by_index(gpus, indices, indices + 10, values, 5, out);
#else
  tilefold::reduce_by_index(gpu, indices, indices + 10, values, 5, out);
#endif
  (void)gpus;
  (void)gpu;
}

int main() {}
