// SPDX-License-Identifier: Apache-2.0
//
// What is streamed is not written again.
// expect: tilefold: transform_rows takes a host_executor, a cuda_executor or a view of one
// errors: 1
#include <tilefold/streamed.cuh>
#include <tilefold/transform_rows.hpp>

void run(tilefold::cuda_executor& gpu, const float* rows, float* out) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::log_softmax_into(tilefold::streamed(gpu), rows, 10, 100, out);
#else
  tilefold::log_softmax_into(gpu, rows, 10, 100, out);
#endif
}

int main() {}
