// SPDX-License-Identifier: Apache-2.0
//
// Offsets in a list.
// expect: tilefold: items must be random-access
// errors: 1
#include <cstdint>
#include <list>
#include <vector>

#include <tilefold/tilefold.hpp>

void sums(const std::vector<float>& x, const std::list<std::int64_t>& bad,
          const std::vector<std::int64_t>& offsets, float* out) {
  (void)bad, (void)offsets;
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::segmented_reduce(x.begin(), bad.begin(), 3, out);
#else
  tilefold::segmented_reduce(x.begin(), offsets.begin(), 3, out);
#endif
}
