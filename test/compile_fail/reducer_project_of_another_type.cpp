// SPDX-License-Identifier: Apache-2.0
//
// A reducer's project takes what its lift returns.
// expect: tilefold: a reducer's project must be callable with what its lift returns
#include <vector>

#include <tilefold/tilefold.hpp>

struct total {
  float value;
};

auto sum(const std::vector<float>& values) {
  return tilefold::reduce(values, tilefold::reducers::make_reducer(
                                      [](float x) { return total{x}; },
                                      [](total a, total b) { return total{a.value + b.value}; },
#if defined(TILEFOLD_MUST_FAIL)
                                      [](float x) { return x; }));
#else
                                      [](total t) { return t.value; }));
#endif
}
