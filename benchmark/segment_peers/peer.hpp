// SPDX-License-Identifier: Apache-2.0
//
// Who competes in sums of segments beside tilefold. Includes no tilefold, as peers are compiled
// against another CCCL, too.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../support/contestant.hpp"

namespace bench {

/// Sums of all segments in one call: of offsets, which are there in two widths, or of equal lengths
/// (then both tell the same).
struct segments_call {
  const void* first;
  index items;
  index segments;
  index size;  // of every segment; 0 if lengths differ
  const std::int64_t* offsets;
  const int* narrow_offsets;
  float* out;
  cudaStream_t stream;
  void* scratch;
  std::size_t scratch_bytes;

  template <class T>
  const T* begin() const {
    return static_cast<const T*>(first);
  }
};

using segment_sums = std::function<void(const segments_call&)>;

struct segments_peer {
  std::string name;
  segment_sums of_floats, of_halves;  // may be captured; empty if there is no such form
  bool equal_lengths_alone = false;
};

/// Everyone from elsewhere.
inline std::vector<segments_peer>& segments_peers() {
  static std::vector<segments_peer> all;
  return all;
}

/// Enters a peer before main() begins.
struct segments_peer_entry {
  explicit segments_peer_entry(segments_peer peer) { segments_peers().push_back(std::move(peer)); }
};

}  // namespace bench
