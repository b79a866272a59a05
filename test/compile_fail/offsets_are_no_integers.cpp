// SPDX-License-Identifier: Apache-2.0
//
// The arguments of reduce() in segmented_reduce(): an end of the items where offsets belong.
// expect: tilefold: offsets of segments must be integers
#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
void fold(const float* first, const float* last, const int* offsets, float* out) {
  tilefold::segmented_reduce(first, last, offsets, 3, out);
}
#else
void fold(const float* first, const float*, const int* offsets, float* out) {
  tilefold::segmented_reduce(first, offsets, 3, out);
}
#endif

int main() {}
