// SPDX-License-Identifier: Apache-2.0
//
// What ranks tell each other are bytes, which a string does not consist of.
// expect: tilefold: ranks send accumulators as bytes, so they must be trivially copyable
#include <string>

#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using item = std::string;
#else
using item = int;
#endif

item fold(tilefold::thread_communicator& comm, const tilefold::host_executor& exec,
          const item* first, const item* last) {
  return tilefold::reduce(tilefold::ranks(comm, exec), first, last, std::plus<>{});
}

int main() {}
