// SPDX-License-Identifier: Apache-2.0
//
// An exact sum of integers in an integer, which might not hold it.
// expect: tilefold: an integer might not hold an exact sum of integers: take checked_sum
// errors: 1
#include <cstdint>
#include <vector>

#include <tilefold/tilefold.hpp>

auto sum(const std::vector<std::int64_t>& x) {
#if defined(TILEFOLD_MUST_FAIL)
  return tilefold::reduce(x, tilefold::reducers::exact_sum{});
#else
  return tilefold::reduce(x, tilefold::reducers::exact_sum<double>{});
#endif
}
