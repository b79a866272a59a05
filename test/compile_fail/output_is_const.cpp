// SPDX-License-Identifier: Apache-2.0
//
// Where a result goes must not be const.
// expect: tilefold: results cannot be written through the output, which is const
// errors: 1
#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using out_type = const float*;
#else
using out_type = float*;
#endif

void sum(const float* first, const int* offsets, out_type out) {
  tilefold::segmented_reduce(first, offsets, 10, out);
}
