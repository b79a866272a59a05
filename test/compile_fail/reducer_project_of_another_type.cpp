// SPDX-License-Identifier: Apache-2.0
//
// A reducer's project takes what its lift returns.
// expect: tilefold: a reducer's project must be callable with what its lift returns
#include <vector>

#include <tilefold/tilefold.hpp>

struct total {
  float value;
};

#if defined(TILEFOLD_MUST_FAIL)
const auto project = [](float x) { return x; };
#else
const auto project = [](total t) { return t.value; };
#endif

auto sum(const std::vector<float>& values) {
  const auto lift = [](float x) { return total{x}; };
  const auto combine = [](total a, total b) { return total{a.value + b.value}; };
  return tilefold::reduce(values, tilefold::reducers::make_reducer(lift, combine, project));
}
