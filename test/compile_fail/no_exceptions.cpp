// SPDX-License-Identifier: Apache-2.0
//
// Bad arguments throw.
// expect: tilefold: bad arguments throw exceptions; compile without -fno-exceptions
// options of the failure: -fno-exceptions
#include <tilefold/tilefold.hpp>

auto sum(const float* first, const float* last) { return tilefold::reduce(first, last); }
