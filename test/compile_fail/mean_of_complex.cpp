// SPDX-License-Identifier: Apache-2.0
//
// Statistics are of real numbers.
// expect: tilefold: this reducer does not take items of this type
// errors: 1
#include <complex>
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using item = std::complex<float>;
#else
using item = float;
#endif

auto fold(const std::vector<item>& x) { return tilefold::mean(x); }
