// SPDX-License-Identifier: Apache-2.0
//
// Who competes in sums of runs of equal keys beside tilefold. Includes no tilefold, as peers are
// compiled against another CCCL, too.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../../support/contestant.hpp"

namespace bench {

/// Sums of the runs of equal keys: the first key of every run, its sum, and how many runs there
/// are.
struct runs_call {
  const int* keys;
  const void* first;  // of the values
  index n;
  int* keys_out;
  void* out;
  std::int64_t* count;
  cudaStream_t stream;
  void* scratch;
  std::size_t scratch_bytes;

  template <class T>
  const T* begin() const {
    return static_cast<const T*>(first);
  }
  template <class T>
  T* result() const {
    return static_cast<T*>(out);
  }
};

using run_sums = std::function<void(const runs_call&)>;

struct runs_peer {
  std::string name;
  bool waits;                             // within its call, so that it cannot be captured
  std::map<std::string, run_sums> forms;  // by the type of the values: float, struct16 and so on
};

/// Everyone from elsewhere.
inline std::vector<runs_peer>& runs_peers() {
  static std::vector<runs_peer> all;
  return all;
}

/// Enters a peer before main() begins.
struct runs_peer_entry {
  explicit runs_peer_entry(runs_peer peer) { runs_peers().push_back(std::move(peer)); }
};

}  // namespace bench
