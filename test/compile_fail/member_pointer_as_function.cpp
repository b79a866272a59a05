// SPDX-License-Identifier: Apache-2.0
//
// What is called is f(item); std::invoke calls a pointer to a member in another way.
// expect: tilefold: a pointer to a member is no operator, function, predicate or comparator
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

struct point {
  float x;
  bool valid() const { return x == x; }
  point joined(const point& other) const { return {x + other.x}; }
};

#if defined(TILEFOLD_MUST_FAIL)
constexpr auto what = &point::x;
#else
constexpr auto what = [](const point& p) { return p.x; };
#endif

auto fold(const std::vector<point>& points) {
  return tilefold::transform_reduce(points, tilefold::plus{}, what);
}
