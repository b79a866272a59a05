// SPDX-License-Identifier: Apache-2.0
//
// A predicate takes one value: here stands the value to be counted.
// expect: tilefold: the predicate must be callable with an element
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

auto number(const std::vector<float>& x) {
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::count_if(x, 3.0f);
#else
  return tilefold::count(x, 3.0f);
#endif
}
