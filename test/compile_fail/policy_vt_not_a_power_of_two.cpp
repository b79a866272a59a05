// SPDX-License-Identifier: Apache-2.0
//
// 12 values a thread would make tiles that are no subtrees.
// expect: needs powers of two
#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
constexpr tilefold::tile_policy policy{128, 12};
#else
constexpr tilefold::tile_policy policy{128, 16};
#endif

float sum(const float* first, const float* last) {
  tilefold::host_executor host;
  auto tuned = tilefold::with_policy<policy>(host);
  return tilefold::reduce(tuned, first, last);
}
