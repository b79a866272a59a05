// SPDX-License-Identifier: Apache-2.0
//
// What every contestant of the GPU benchmark is to the harness: a name and a fold over raw device
// memory. Includes no tilefold, so that peers can be compiled against another CCCL.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using index = std::int64_t;

inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // else the next check would find it again
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}

/// The memory of a call. `first` and `scratch` are device memory, `out` is memory that device and
/// host code of this call may write.
struct call_memory {
  const void* first;
  void* out;
  cudaStream_t stream;
  void* scratch;
  std::size_t scratch_bytes;

  template <class T>
  const T* items() const {
    return static_cast<const T*>(first);
  }
  template <class T>
  T* result() const {
    return static_cast<T*>(out);
  }
};

/// One fold of n items.
struct fold_call : call_memory {
  index n;
};

using fold = std::function<void(const fold_call&)>;

struct contestant {
  std::string name;
  fold enqueue;   // works in call.stream and may be captured; empty if there is no such form
  fold blocking;  // *out, host memory, holds the value on return; empty if there is no such form
  bool host_bits = false;  // promises the bits of tilefold's host executor
  bool has_value = true;   // false for an empty kernel, which has nothing to check
  index most_items = std::numeric_limits<index>::max();  // that it can fold
  index in_a_row = 0;  // partial sums that it adds to the result one after the other
};

/// Contestants by the name of the shape that they compete in.
using peer_table = std::map<std::string, std::vector<contestant>>;

/// The contestants from elsewhere.
inline peer_table& peers() {
  static peer_table table;
  return table;
}

/// Enters a peer before main() begins.
struct peer_entry {
  peer_entry(const std::string& shape, contestant peer) {
    peers()[shape].push_back(std::move(peer));
  }
};

/// Peers that compete in calls of another kind, by their type: those from elsewhere.
template <class Peer>
std::vector<Peer>& all_peers() {
  static std::vector<Peer> all;
  return all;
}
template <class Peer>
struct entry_of {
  explicit entry_of(Peer peer) { all_peers<Peer>().push_back(std::move(peer)); }
};

}  // namespace bench
