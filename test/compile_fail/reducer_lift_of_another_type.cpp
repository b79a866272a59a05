// SPDX-License-Identifier: Apache-2.0
//
// A reducer's lift takes the values of the range; one of two ranges cannot do with one.
// expect: tilefold: the reducer's lift cannot be called with the values of the range
#include <vector>

#include <tilefold/tilefold.hpp>

auto measure(const std::vector<float>& values) {
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::reduce(values, tilefold::reducers::covariance{});
#else
  return tilefold::reduce(values, tilefold::reducers::variance{});
#endif
}
