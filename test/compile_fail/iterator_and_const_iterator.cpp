// SPDX-License-Identifier: Apache-2.0
//
// Both ends of a range have one type.
// expect: tilefold: first and last must have one type
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
auto fold(std::vector<float>& x) { return tilefold::reduce(x.begin(), x.cend()); }
#else
auto fold(std::vector<float>& x) { return tilefold::reduce(x.cbegin(), x.cend()); }
#endif
