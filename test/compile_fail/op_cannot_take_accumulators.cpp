// SPDX-License-Identifier: Apache-2.0
//
// Who names an accumulator type needs an operator for it.
// expect: tilefold: the operator cannot be called with two accumulators
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

struct total {
  float value;
};

struct add {
  float operator()(float a, float b) const { return a + b; }
#if !defined(TILEFOLD_MUST_FAIL)
  total operator()(total a, total b) const { return {a.value + b.value}; }
#endif
};

auto sum(const std::vector<float>& values) {
  return tilefold::reduce<total>(values.begin(), values.end(), total{1.0f}, add());
}
