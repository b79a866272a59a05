// SPDX-License-Identifier: Apache-2.0
//
// The same of a range.
// expect: tilefold: the order of transform_reduce is \(first, last, init, op, f\)
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
auto twice(const std::vector<float>& x) {
  return tilefold::transform_reduce(x, [](float a) { return 2 * a; }, 0.0f, tilefold::plus{});
}
#else
auto twice(const std::vector<float>& x) {
  return tilefold::transform_reduce(x, 0.0f, tilefold::plus{}, [](float a) { return 2 * a; });
}
#endif
