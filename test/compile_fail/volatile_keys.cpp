// SPDX-License-Identifier: Apache-2.0
//
// Keys that may change while they are read.
// expect: tilefold: keys must not be volatile
// errors: 1
#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using key = volatile int;
#else
using key = const int;
#endif

auto fold(key* first, key* last, const float* values, int* keys_out, float* values_out) {
  return tilefold::reduce_by_key(first, last, values, keys_out, values_out);
}
