// SPDX-License-Identifier: Apache-2.0
//
// An equality of keys without an operator, as thrust::reduce_by_key takes it.
// expect: tilefold: a single function at the end of reduce_by_key is the operator
// errors: 1
#include <functional>
#include <vector>

#include <tilefold/tilefold.hpp>

auto runs(const std::vector<int>& keys, const std::vector<int>& values, int* keys_out, int* sums) {
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::reduce_by_key(keys.begin(), keys.end(), values.begin(), keys_out, sums,
                                 std::equal_to<int>{});
#else
  return tilefold::reduce_by_key(keys.begin(), keys.end(), values.begin(), keys_out, sums,
                                 std::equal_to<int>{}, tilefold::plus{});
#endif
}
