// SPDX-License-Identifier: Apache-2.0
//
// A comparator takes two values of the range.
// expect: tilefold: the comparator must be callable with two values
// errors: 1
#include <functional>
#include <vector>

#include <tilefold/tilefold.hpp>

struct of_one {
  bool operator()(float x) const { return x < 0; }
};

#if defined(TILEFOLD_MUST_FAIL)
using comparator = of_one;
#else
using comparator = std::less<>;
#endif

auto least(const std::vector<float>& x) { return tilefold::min_element(x, comparator()); }
