// SPDX-License-Identifier: Apache-2.0
//
// Ranks have no other order than the neighbour tree.
// expect: tilefold: sequential_blocks is for reduce, transform_reduce
// errors: 1
#include <tilefold/ranks.hpp>
#include <tilefold/sequential_blocks.hpp>
#include <tilefold/tilefold.hpp>

void fold(tilefold::thread_communicator& comm, const tilefold::host_executor& exec,
          const float* first, const float* last) {
#if defined(TILEFOLD_MUST_FAIL)
  (void)tilefold::reduce(tilefold::ranks(comm, exec), first, last,
                         tilefold::sequential_blocks<8192>(tilefold::plus{}));
#else
  (void)tilefold::reduce(tilefold::ranks(comm, exec), first, last, tilefold::plus{});
#endif
}

int main() {}
