// SPDX-License-Identifier: Apache-2.0
//
// Fused reducers are folded in one order.
// expect: tilefold: sequential_blocks stands around fuse
#include <tilefold/sequential_blocks.hpp>
#include <tilefold/tilefold.hpp>

namespace r = tilefold::reducers;

void fold(const float* first) {
#if defined(TILEFOLD_MUST_FAIL)
  (void)tilefold::reduce(first, first + 9,
                         r::fuse(r::count{}, tilefold::sequential_blocks<8192>(r::sum{})));
#else
  (void)tilefold::reduce(first, first + 9,
                         tilefold::sequential_blocks<8192>(r::fuse(r::count{}, r::sum{})));
#endif
}

int main() {}
