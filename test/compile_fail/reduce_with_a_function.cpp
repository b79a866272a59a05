// SPDX-License-Identifier: Apache-2.0
//
// A function of the items after the operator.
// expect: tilefold: reduce takes at most \(range, init, op\); with a function of the items it is transform_reduce
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

float squares(const std::vector<float>& x) {
  const auto square = [](float a) { return a * a; };
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::reduce(x, 0.0f, tilefold::plus{}, square);
#else
  return tilefold::transform_reduce(x, 0.0f, tilefold::plus{}, square);
#endif
}
