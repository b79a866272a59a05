// SPDX-License-Identifier: Apache-2.0
//
// A verb where its reducer belongs, as one writes it first: the compiler says that it is no type,
// and then we what to take.
// expect: tilefold: mean, variance and the like are verbs.*tilefold::reducers::mean\{\}
// errors: 2
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
double average(const std::vector<float>& x) { return tilefold::reduce(x, tilefold::mean{}); }
#else
double average(const std::vector<float>& x) {
  return tilefold::reduce(x, tilefold::reducers::mean{});
}
#endif
