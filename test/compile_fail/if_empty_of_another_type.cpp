// SPDX-License-Identifier: Apache-2.0
//
// What stands for nothing is a result: a place has a value and an index.
// expect: tilefold: the value of if_empty must convert to the result of its operator or reducer
#include <tilefold/tilefold.hpp>

namespace r = tilefold::reducers;

#if defined(TILEFOLD_MUST_FAIL)
constexpr int nowhere = -1;
#else
constexpr r::indexed_value<float> nowhere{0, -1};
#endif

void fold(const float* items, const int* offsets, r::indexed_value<float>* out) {
  tilefold::segmented_reduce(items, offsets, 3, out, tilefold::if_empty(r::arg_min{}, nowhere));
}

int main() {}
