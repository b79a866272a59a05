// SPDX-License-Identifier: Apache-2.0
//
// Without --extended-lambda every lambda is one of the host.
// expect: tilefold: a GPU cannot call a function of the host, by a pointer or as a plain lambda
// errors: 1
#include <tilefold/tilefold.cuh>

struct adds {
  TILEFOLD_HD float operator()(float a, float b) const { return a + b; }
};

#if defined(TILEFOLD_MUST_FAIL)
#define OPERATOR [](float a, float b) { return a + b; }
#else
#define OPERATOR adds()
#endif

float sum(tilefold::cuda_executor& exec, const float* items) {
  return tilefold::reduce(exec, items, items + 10, 0.0f, OPERATOR);
}

int main() {}
