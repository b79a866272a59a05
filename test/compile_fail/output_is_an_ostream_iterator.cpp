// SPDX-License-Identifier: Apache-2.0
//
// The same of keys, which go to a stream.
// expect: tilefold: the output of many results must be random-access
// errors: 1
#include <iterator>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using keys_out = std::ostream_iterator<int>;
#else
using keys_out = int*;
#endif

void runs(const int* keys, const float* values, keys_out to, float* out) {
  tilefold::reduce_by_key(keys, keys + 10, values, to, out);
}
