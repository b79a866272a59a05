// SPDX-License-Identifier: Apache-2.0
//
// Rows that begin at an iterator.
// expect: tilefold: transform_rows and log_softmax take rows and out as pointers
// errors: 1
#include <vector>

#include <tilefold/transform_rows.hpp>

void rows(const std::vector<float>& items, float* out) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::log_softmax(items.begin(), 2, 2, out);
#else
  tilefold::log_softmax(items.data(), 2, 2, out);
#endif
}
