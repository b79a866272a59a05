// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers have no order.
// expect: tilefold: this reducer does not take items of this type
// errors: 1
#include <complex>
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using item = std::complex<double>;
#else
using item = double;
#endif

auto fold(const std::vector<item>& x) {
  return tilefold::reduce(x, tilefold::reducers::arg_max<>{});
}
