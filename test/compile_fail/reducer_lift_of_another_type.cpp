// SPDX-License-Identifier: Apache-2.0
//
// A reducer's lift takes the values of the range; one of two ranges cannot do with one.
// expect: tilefold: this reducer does not take items of this type
#include <vector>

#include <tilefold/tilefold.hpp>

auto measure(const std::vector<float>& values) {
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::reduce(values, tilefold::reducers::covariance{});
#else
  return tilefold::reduce(values, tilefold::reducers::variance{});
#endif
}
