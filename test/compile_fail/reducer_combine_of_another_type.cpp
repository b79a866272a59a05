// SPDX-License-Identifier: Apache-2.0
//
// A reducer's combine joins what its lift returns.
// expect: tilefold: a reducer's combine must be callable with two of what its lift returns
#include <vector>

#include <tilefold/tilefold.hpp>

struct total {
  float value;
};

#if defined(TILEFOLD_MUST_FAIL)
const auto combine = [](float a, float b) { return a + b; };
#else
const auto combine = [](total a, total b) { return total{a.value + b.value}; };
#endif

auto sum(const std::vector<float>& values) {
  const auto lift = [](float x) { return total{x}; };
  const auto project = [](total t) { return t.value; };
  return tilefold::reduce(values, tilefold::reducers::make_reducer(lift, combine, project));
}
