// SPDX-License-Identifier: Apache-2.0
//
// The same rule where an executor comes first: this callable takes one value, not two.
// expect: tilefold: the argument after the range must be an operator callable with two values of the range, or an initial value
#include <vector>

#include <tilefold/tilefold.hpp>

struct one_argument {
  float operator()(float x) const { return x; }
};

#if defined(TILEFOLD_MUST_FAIL)
using third = one_argument;
#else
using third = tilefold::plus;
#endif

auto sum(const std::vector<float>& values) {
  return tilefold::reduce(tilefold::host_executor(), values, third());
}
