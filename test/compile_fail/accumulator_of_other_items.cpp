// SPDX-License-Identifier: Apache-2.0
//
// An executor adds items of the accumulator's own type to it.
// expect: tilefold: the items that an executor adds to an exact accumulator must have the type of its items
// errors: 1
#include <tilefold/tilefold.hpp>

#include <vector>

#if defined(TILEFOLD_MUST_FAIL)
using item = float;
#else
using item = double;
#endif

void add(const std::vector<item>& items) {
  tilefold::exact_accumulator<double> sum;
  sum.add(tilefold::host_executor(), items);
}

int main() {}
