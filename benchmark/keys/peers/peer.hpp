// SPDX-License-Identifier: Apache-2.0
//
// Who competes in sums of runs of equal keys beside tilefold. Includes no tilefold, as peers are
// compiled against another CCCL, too.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "../../support/contestant.hpp"

namespace bench {

/// Sums of the runs of equal keys: the first key of every run, its sum, and how many runs there
/// are. The memory is that of the values and the sums.
struct runs_call : call_memory {
  const int* keys;
  index n;
  int* keys_out;
  std::int64_t* count;
};

using run_sums = std::function<void(const runs_call&)>;

struct runs_peer {
  std::string name;
  bool waits;                             // within its call, so that it cannot be captured
  std::map<std::string, run_sums> forms;  // by the type of the values: float, struct16 and so on
};

}  // namespace bench
