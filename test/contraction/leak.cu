// SPDX-License-Identifier: Apache-2.0
//
// Kernels that kernels_test.py must complain about, so that it is known to look: an operator that
// adds what it has multiplied, and two kernels of one such expression. Compiled, never run.
#include <cuda_fp16.h>

#include <tilefold/tilefold.cuh>

#include "functions.hpp"

namespace tilefold::test::closed_reducer {

struct planted_leak {
  TILEFOLD_HD float operator()(const float& a, const float& b) const { return a * 0.7f + b; }
};

float leaking(cuda_executor& gpu, const float* first) {
  auto exec = with_policy<tile_policy{32, 1}>(gpu);
  return reduce(exec, first, first + 100, planted_leak{});
}

__global__ void planted_leak_in_double(const double* x, double* y) { *y = x[0] * x[1] + x[2]; }
__global__ void planted_leak_in_half(const __half* x, __half* y) { *y = x[0] * x[1] + x[2]; }

}  // namespace tilefold::test::closed_reducer
