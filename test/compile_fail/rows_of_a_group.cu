// SPDX-License-Identifier: Apache-2.0
//
// A group has the rows of each of its GPUs; it has none of its own.
// expect: tilefold: transform_rows takes a host_executor, a cuda_executor or a view of one
// errors: 1
#include <tilefold/cuda_group.cuh>
#include <tilefold/transform_rows.hpp>

void run(tilefold::cuda_group& gpus, tilefold::cuda_executor& gpu, const float* rows, float* out) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::log_softmax_into(gpus, rows, 10, 100, out);
#else
  tilefold::log_softmax_into(gpu, rows, 10, 100, out);
#endif
  (void)gpus;
  (void)gpu;
}

int main() {}
