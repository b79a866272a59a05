// SPDX-License-Identifier: Apache-2.0
//
// Results are written in any order, each to its place.
// expect: tilefold: the output of many results must be random-access
// errors: 1
#include <iterator>
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
void sums(const float* first, const int* offsets, std::vector<float>& out) {
  tilefold::segmented_reduce(first, offsets, 10, std::back_inserter(out));
}
#else
void sums(const float* first, const int* offsets, std::vector<float>& out) {
  tilefold::segmented_reduce(first, offsets, 10, out.begin());
}
#endif
