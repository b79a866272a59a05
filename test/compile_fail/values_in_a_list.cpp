// SPDX-License-Identifier: Apache-2.0
//
// Values of keys in a list.
// expect: tilefold: items must be random-access
// errors: 1
#include <cstdint>
#include <list>
#include <vector>

#include <tilefold/tilefold.hpp>

auto runs(const std::vector<int>& keys, const std::list<int>& bad, const std::vector<int>& values,
          int* keys_out, int* sums) {
  (void)bad, (void)values;
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::reduce_by_key(keys.begin(), keys.end(), bad.begin(), keys_out, sums);
#else
  return tilefold::reduce_by_key(keys.begin(), keys.end(), values.begin(), keys_out, sums);
#endif
}
