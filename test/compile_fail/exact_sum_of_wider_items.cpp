// SPDX-License-Identifier: Apache-2.0
//
// A double in an exact sum of floats, which need not hold it.
// expect: tilefold: this sum is not exact for every value of the item's type
// errors: 1
#include <tilefold/tilefold.hpp>

void add(tilefold::exact_accumulator<float>& sum, double x) {
#if defined(TILEFOLD_MUST_FAIL)
  sum.add(x);
#else
  sum.add(static_cast<float>(x));
#endif
}
