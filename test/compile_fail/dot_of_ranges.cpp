// SPDX-License-Identifier: Apache-2.0
//
// Two ranges, of which no call says that they are equally long.
// expect: tilefold: inner_product takes iterators, not ranges
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

float dot(const std::vector<float>& x, const std::vector<float>& y) {
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::inner_product(x, y, 0.0f);
#else
  return tilefold::inner_product(x.begin(), x.end(), y.begin(), 0.0f);
#endif
}
