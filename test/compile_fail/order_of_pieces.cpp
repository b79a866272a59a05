// SPDX-License-Identifier: Apache-2.0
//
// A piece of a sequence has no other order than the neighbour tree.
// expect: tilefold: sequential_blocks is for reduce, transform_reduce
// errors: 1
#include <tilefold/piece.hpp>
#include <tilefold/sequential_blocks.hpp>
#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
auto part(const float* first) {
  return tilefold::reduce_piece(tilefold::host_executor(), first, first + 9, 0,
                                tilefold::sequential_blocks<8192>(tilefold::plus{}));
}
#else
auto part(const float* first) {
  return tilefold::reduce_piece(tilefold::host_executor(), first, first + 9, 0, tilefold::plus{});
}
#endif

int main() {}
