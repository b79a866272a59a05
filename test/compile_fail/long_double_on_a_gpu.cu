// SPDX-License-Identifier: Apache-2.0
//
// A long double of the host has 10 or 16 bytes; in device code it is a double.
// expect: tilefold: a GPU has no long double
// errors: 1
#include <complex>

#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
using part = long double;
#else
using part = double;
#endif

std::complex<part> sum(tilefold::cuda_executor& exec, const std::complex<part>* items) {
  return tilefold::reduce(exec, items, items + 10);
}

int main() {}
