// SPDX-License-Identifier: Apache-2.0
//
// A list has no item i.
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

auto fold(const items& x) { return tilefold::reduce(x, tilefold::maximum{}); }
