// SPDX-License-Identifier: Apache-2.0
//
// An array may be empty as a segment may, and an operator of the user's has no identity that is
// known.
// expect: tilefold: a segment may be empty, so give an initial value, or an operator or reducer whose identity is known
#include <tilefold/tilefold.hpp>

struct larger {
  float operator()(float a, float b) const { return a < b ? b : a; }
};

#if defined(TILEFOLD_MUST_FAIL)
void fold(const float* const* arrays, const int* lengths, float* out) {
  tilefold::batched_reduce(arrays, lengths, 3, out, larger{});
}
#else
void fold(const float* const* arrays, const int* lengths, float* out) {
  tilefold::batched_reduce(arrays, lengths, 3, out, 0.0f, larger{});
}
#endif

int main() {}
