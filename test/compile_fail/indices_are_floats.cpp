// SPDX-License-Identifier: Apache-2.0
//
// Indices and values that have changed places.
// expect: tilefold: indices must be integers of at most 64 bits, and not volatile; the order of reduce_by_index is \(indices, indices_last, values, num_results, out, init, op\)
// errors: 1
#include <tilefold/reduce_by_index.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using number = float;
#else
using number = unsigned char;
#endif

void fold(const number* indices, const float* values, float* out) {
  tilefold::reduce_by_index(indices, indices + 10, values, 5, out);
}
