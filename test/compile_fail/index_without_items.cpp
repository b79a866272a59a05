// SPDX-License-Identifier: Apache-2.0
//
// A mean for each index, of which some may have no items.
// expect: tilefold: a segment may be empty, so give an initial value, or an operator or reducer whose identity is known, or its result for nothing: if_empty\(op, value\)
// errors: 1
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce_by_index.hpp>
#include <tilefold/reducers/moments.hpp>

void fold(const int* indices, const float* values, double* out) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::reduce_by_index(indices, indices + 10, values, 5, out, tilefold::reducers::mean{});
#else
  tilefold::reduce_by_index(indices, indices + 10, values, 5, out,
                            tilefold::if_empty(tilefold::reducers::mean{}, 0.0));
#endif
}
