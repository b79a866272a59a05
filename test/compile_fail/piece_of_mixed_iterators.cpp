// SPDX-License-Identifier: Apache-2.0
//
// A piece between iterators of two types.
// expect: tilefold: first and last must have one type
// errors: 1
#include <cstdint>
#include <list>
#include <vector>

#include <tilefold/piece.hpp>
#include <tilefold/tilefold.hpp>

void part(std::vector<float>& x) {
  tilefold::host_executor exec;
#if defined(TILEFOLD_MUST_FAIL)
  (void)tilefold::reduce_piece(exec, x.begin(), x.cend(), 0);
#else
  (void)tilefold::reduce_piece(exec, x.begin(), x.end(), 0);
#endif
}
