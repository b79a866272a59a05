// SPDX-License-Identifier: Apache-2.0
//
// The accumulator has to hold the values and the initial value.
// expect: tilefold: the initial value does not convert to the accumulator type
// errors: 1
#include <tilefold/tilefold.hpp>

#include <string>
#include <vector>

#if defined(TILEFOLD_MUST_FAIL)
using init = std::string;
#else
using init = int;
#endif

auto sum(const std::vector<int>& items) {
  return tilefold::reduce(items, init(), [](int a, int b) { return a + b; });
}

int main() {}
