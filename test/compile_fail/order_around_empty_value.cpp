// SPDX-License-Identifier: Apache-2.0
//
// The order stands inside if_empty(), and has blocks of a power of two of items.
// expect: tilefold: sequential_blocks stands inside if_empty
#include <tilefold/sequential_blocks.hpp>
#include <tilefold/tilefold.hpp>

namespace r = tilefold::reducers;

#if defined(TILEFOLD_MUST_FAIL)
double fold(const float* first) {
  return tilefold::reduce(first, first + 9,
                          tilefold::sequential_blocks<8192>(tilefold::if_empty(r::mean{}, 0.0)));
}
#else
double fold(const float* first) {
  return tilefold::reduce(first, first + 9,
                          tilefold::if_empty(tilefold::sequential_blocks<8192>(r::mean{}), 0.0));
}
#endif

int main() {}
