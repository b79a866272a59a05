// SPDX-License-Identifier: Apache-2.0
//
// The least item may lie on another rank, where no iterator leads.
// expect: tilefold: an item may lie on another rank, where no iterator leads: take its index in the whole
#include <tilefold/ranks.hpp>
#include <tilefold/tilefold.hpp>

void fold(tilefold::thread_communicator& comm, const tilefold::host_executor& exec,
          const float* first, const float* last) {
#if defined(TILEFOLD_MUST_FAIL)
  (void)tilefold::min_element(tilefold::ranks(comm, exec), first, last);
#else
  (void)tilefold::min_value(tilefold::ranks(comm, exec), first, last);
#endif
}

int main() {}
