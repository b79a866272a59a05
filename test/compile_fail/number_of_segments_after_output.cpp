// SPDX-License-Identifier: Apache-2.0
//
// The number of segments behind the output.
// expect: tilefold: the order of segmented_reduce .* \(first, begins, ends, num_segments, out, init, op\)
// errors: 1
#include <tilefold/tilefold.hpp>

void sums(const float* x, const int* begins, const int* ends, int n, float* out) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::segmented_reduce(x, begins, ends, out, n);
#else
  tilefold::segmented_reduce(x, begins, ends, n, out);
#endif
}
