// SPDX-License-Identifier: Apache-2.0
//
// No output, of iterators.
// expect: tilefold: the order of segmented_reduce is \(first, offsets, num_segments, out, init, op\)
// errors: 1
#include <tilefold/tilefold.hpp>

void sums(const float* x, const int* offsets, int n, float* out) {
#if defined(TILEFOLD_MUST_FAIL)
  (void)out;
  tilefold::segmented_reduce(x, offsets, n);
#else
  tilefold::segmented_reduce(x, offsets, n, out);
#endif
}
