// SPDX-License-Identifier: Apache-2.0
//
// Items that may change while they are read.
// expect: tilefold: items must not be volatile
// errors: 1
#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using item = volatile float;
#else
using item = const float;
#endif

auto fold(item* first, item* last) { return tilefold::reduce(first, last); }
