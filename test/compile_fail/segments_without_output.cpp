// SPDX-License-Identifier: Apache-2.0
//
// Ranges of items and offsets, and no output.
// expect: tilefold: the order of segmented_reduce is \(first, offsets, num_segments, out, init, op\)
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

void sums(const std::vector<float>& x, const std::vector<int>& offsets, std::vector<float>& out) {
#if defined(TILEFOLD_MUST_FAIL)
  (void)out;
  tilefold::segmented_reduce(x, offsets);
#else
  tilefold::segmented_reduce(x.begin(), offsets.begin(), offsets.size() - 1, out.begin());
#endif
}
