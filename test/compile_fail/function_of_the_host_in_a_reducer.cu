// SPDX-License-Identifier: Apache-2.0
//
// make_reducer() holds the address of a host function.
// expect: tilefold: a GPU cannot call a function of the host, by a pointer or as a plain lambda
// errors: 1
#include <tilefold/tilefold.cuh>

float add(float a, float b) { return a + b; }
struct adds {
  TILEFOLD_HD float operator()(float a, float b) const { return a + b; }
};
struct as_it_is {
  TILEFOLD_HD float operator()(float x) const { return x; }
};

#if defined(TILEFOLD_MUST_FAIL)
#define OPERATOR add
#else
#define OPERATOR adds()
#endif

float sum(tilefold::cuda_executor& exec, const float* items) {
  return tilefold::reduce(exec, items, items + 10,
                          tilefold::reducers::make_reducer(as_it_is(), OPERATOR, as_it_is()));
}

int main() {}
