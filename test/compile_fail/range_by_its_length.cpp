// SPDX-License-Identifier: Apache-2.0
//
// How many items there are, where the end of the range belongs.
// expect: tilefold: a range is two iterators, first and last
// errors: 1
#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
void sum(const float* in, int n, float* out) {
  tilefold::reduce_into(tilefold::host_executor(), in, n, out);
}
#else
void sum(const float* in, int n, float* out) {
  tilefold::reduce_into(tilefold::host_executor(), in, in + n, out);
}
#endif
