// SPDX-License-Identifier: Apache-2.0
//
// To a GPU the address of a host function means nothing, also where it joins a row's value with
// items.
// expect: tilefold: a GPU cannot call a function of the host, by a pointer or as a plain lambda
// errors: 1
#include <tilefold/tilefold.cuh>

float quotient(float a, float b) { return a / b; }
struct divides {
  TILEFOLD_HD float operator()(float a, float b) const { return a / b; }
};

#if defined(TILEFOLD_MUST_FAIL)
#define FUNCTION quotient
#else
#define FUNCTION divides()
#endif

void shares(tilefold::cuda_executor& exec, const float* items, float* out) {
  tilefold::transform_rows(exec, items, 10, 10, out, tilefold::reducers::sum{}, FUNCTION);
}

int main() {}
