// SPDX-License-Identifier: Apache-2.0
//
// checked() keeps a reference to its executor.
// expect: tilefold: checked\(\) refers to its executor, which must not be a temporary
#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
void fold(const float* items, const int* offsets, float* out) {
  tilefold::segmented_reduce(tilefold::checked(tilefold::host_executor(), 9), items, offsets, 3,
                             out);
}
#else
void fold(const float* items, const int* offsets, float* out) {
  tilefold::host_executor exec;
  tilefold::segmented_reduce(tilefold::checked(exec, 9), items, offsets, 3, out);
}
#endif

int main() {}
