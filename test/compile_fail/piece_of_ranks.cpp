// SPDX-License-Identifier: Apache-2.0
//
// A piece is of one rank: what all ranks hold has a value, not a piece.
// expect: tilefold: a piece is what one rank's items bring: pass the executor that folds them, not ranks\(\)
// errors: 1
#include <tilefold/piece.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/tilefold.hpp>

void fold(tilefold::thread_communicator& comm, const tilefold::host_executor& exec,
          const float* first, const float* last) {
#if defined(TILEFOLD_MUST_FAIL)
  (void)tilefold::reduce_piece(tilefold::ranks(comm, exec), first, last, 0);
#else
  (void)tilefold::reduce_piece(exec, first, last, 0);
#endif
  (void)comm;
}

int main() {}
