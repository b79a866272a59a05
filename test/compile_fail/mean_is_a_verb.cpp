// SPDX-License-Identifier: Apache-2.0
//
// A verb where its reducer belongs.
// expect: tilefold: mean, variance and the like are verbs.*tilefold::reducers::mean\{\}
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
double average(const std::vector<float>& x) { return tilefold::reduce(x, tilefold::mean); }
#else
double average(const std::vector<float>& x) {
  return tilefold::reduce(x, tilefold::reducers::mean{});
}
#endif
