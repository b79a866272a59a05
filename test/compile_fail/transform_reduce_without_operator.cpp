// SPDX-License-Identifier: Apache-2.0
//
// A function, and nothing that joins its results.
// expect: tilefold: transform_reduce takes \(range, op, f\) or \(range, init, op, f\)
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

float squares(const std::vector<float>& x) {
  const auto square = [](float a) { return a * a; };
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::transform_reduce(x, square);
#else
  return tilefold::transform_reduce(x, tilefold::plus{}, square);
#endif
}
