// SPDX-License-Identifier: Apache-2.0
//
// Segments of a list.
// expect: tilefold: items must be random-access
// errors: 1
#include <cstdint>
#include <list>
#include <vector>

#include <tilefold/tilefold.hpp>

void sums(const std::list<float>& x, const std::vector<float>& y,
          const std::vector<std::int64_t>& offsets, float* out) {
  (void)x, (void)y;
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::segmented_reduce(x.begin(), offsets.begin(), 3, out);
#else
  tilefold::segmented_reduce(y.begin(), offsets.begin(), 3, out);
#endif
}
