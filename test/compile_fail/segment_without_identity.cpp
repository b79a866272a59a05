// SPDX-License-Identifier: Apache-2.0
//
// A segment may be empty, and an operator of the user's has no identity that is known.
// expect: tilefold: a segment may be empty, so give an initial value, or an operator or reducer whose identity is known
#include <tilefold/tilefold.hpp>

struct larger {
  float operator()(float a, float b) const { return a < b ? b : a; }
};

#if defined(TILEFOLD_MUST_FAIL)
void fold(const float* items, const int* offsets, float* out) {
  tilefold::segmented_reduce(items, offsets, 3, out, larger{});
}
#else
void fold(const float* items, const int* offsets, float* out) {
  tilefold::segmented_reduce(items, offsets, 3, out, 0.0f, larger{});
}
#endif

int main() {}
