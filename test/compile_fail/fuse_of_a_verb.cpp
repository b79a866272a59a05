// SPDX-License-Identifier: Apache-2.0
//
// A verb where its reducer belongs, in fuse().
// expect: tilefold: fuse takes reducers, such as tilefold::reducers::mean\{\}
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

auto both(const std::vector<float>& x) {
  using namespace tilefold::reducers;
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::reduce(x, fuse(count{}, tilefold::mean));
#else
  return tilefold::reduce(x, fuse(count{}, mean{}));
#endif
}
