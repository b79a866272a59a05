// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal keys have no other order than the neighbour tree.
// expect: tilefold: sequential_blocks is for reduce, transform_reduce
// errors: 1
#include <tilefold/sequential_blocks.hpp>
#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
auto fold(const int* keys, const float* values, int* keys_out, float* out) {
  return tilefold::reduce_by_key(keys, keys + 9, values, keys_out, out,
                                 tilefold::sequential_blocks<8192>(tilefold::plus{}));
}
#else
auto fold(const int* keys, const float* values, int* keys_out, float* out) {
  return tilefold::reduce_by_key(keys, keys + 9, values, keys_out, out, tilefold::plus{});
}
#endif

int main() {}
