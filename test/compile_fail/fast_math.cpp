// SPDX-License-Identifier: Apache-2.0
//
// A compiler told to reorder additions cannot keep the fold order. The macro stands for
// -ffast-math.
// expect: -ffast-math reorders additions
#if defined(TILEFOLD_MUST_FAIL)
#define __FAST_MATH__ 1
#endif
#include <tilefold/tilefold.hpp>
