// SPDX-License-Identifier: Apache-2.0
//
// A lambda without __device__, in a reducer and alone.
// expect: tilefold: a GPU cannot call a function of the host, by a pointer or as a plain lambda
// errors: 2
// options: --extended-lambda
#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
#define ON_DEVICE
#else
#define ON_DEVICE __host__ __device__
#endif

float sum(tilefold::cuda_executor& exec, const float* items, float most) {
  return tilefold::transform_reduce(exec, items, items + 10, 0.0f, tilefold::plus{},
                                    [most] ON_DEVICE(float x) { return x < most ? x : most; });
}

std::int64_t few(tilefold::cuda_executor& exec, const float* items, float most) {
  return tilefold::count_if(exec, items, items + 10,
                            [most] ON_DEVICE(float x) { return x < most; });
}

int main() {}
