// SPDX-License-Identifier: Apache-2.0
//
// A list as the second sequence.
// expect: tilefold: items must be random-access
// errors: 1
#include <cstdint>
#include <list>
#include <vector>

#include <tilefold/tilefold.hpp>

float dot(const std::vector<float>& x, const std::list<float>& y) {
  (void)y;
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::inner_product(x.begin(), x.end(), y.begin(), 0.0f);
#else
  return tilefold::inner_product(x.begin(), x.end(), x.begin(), 0.0f);
#endif
}
