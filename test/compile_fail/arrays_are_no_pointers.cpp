// SPDX-License-Identifier: Apache-2.0
//
// Items where pointers to arrays belong.
// expect: tilefold: batched_reduce takes an iterator over pointers
#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
void fold(const float* const* arrays, const int* lengths, float* out) {
  tilefold::batched_reduce(arrays[0], lengths, 3, out);
}
#else
void fold(const float* const* arrays, const int* lengths, float* out) {
  tilefold::batched_reduce(arrays, lengths, 3, out);
}
#endif

int main() {}
