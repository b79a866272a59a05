// SPDX-License-Identifier: Apache-2.0
//
// A reducer's combine joins what its lift returns.
// expect: tilefold: a reducer's combine must be callable with two of what its lift returns
#include <vector>

#include <tilefold/tilefold.hpp>

struct total {
  float value;
};

auto sum(const std::vector<float>& values) {
  return tilefold::reduce(values,
                          tilefold::reducers::make_reducer([](float x) { return total{x}; },
#if defined(TILEFOLD_MUST_FAIL)
                                                           [](float a, float b) { return a + b; },
#else
                                                            [](total a, total b) {
                                                              return total{a.value + b.value};
                                                            },
#endif
                                                           [](total t) { return t.value; }));
}
