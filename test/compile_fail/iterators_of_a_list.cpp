// SPDX-License-Identifier: Apache-2.0
//
// The same of two iterators, and of a verb that has an initial value and a function.
// expect: tilefold: items must be random-access
// errors: 1
#include <list>
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using items = std::list<float>;
#else
using items = std::vector<float>;
#endif

auto fold(const items& x) {
  return tilefold::transform_reduce(x.begin(), x.end(), 0.0f, tilefold::plus{},
                                    [](float a) { return 2 * a; });
}
