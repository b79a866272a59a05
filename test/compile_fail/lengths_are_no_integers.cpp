// SPDX-License-Identifier: Apache-2.0
//
// Ends of arrays where their lengths belong.
// expect: tilefold: lengths of arrays must be integers
#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
void fold(const float* const* arrays, const float* const* ends, const int*, float* out) {
  tilefold::batched_reduce(arrays, ends, 3, out);
}
#else
void fold(const float* const* arrays, const float* const*, const int* lengths, float* out) {
  tilefold::batched_reduce(arrays, lengths, 3, out);
}
#endif

int main() {}
