// SPDX-License-Identifier: Apache-2.0
//
// Who competes in sums of segments beside tilefold. Includes no tilefold, as peers are compiled
// against another CCCL, too.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../../support/contestant.hpp"

namespace bench {

/// Sums of all segments in one call: of offsets, which are there in two widths, or of equal lengths
/// (then both tell the same).
struct segments_call {
  const void* first;
  index items;
  index segments;
  index size;     // of every segment; 0 if lengths differ
  index longest;  // of the segments, if the caller knows; else 0
  const std::int64_t* offsets;
  const int* narrow_offsets;
  void* out;
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

using segment_sums = std::function<void(const segments_call&)>;

/// What a form has to know of the segments beside their offsets.
enum class promise { none, equal_lengths, longest };

struct segments_peer {
  std::string name;
  promise needs;
  // By the type of the items: half (summed in float), float, struct16 and so on. May be captured.
  std::map<std::string, segment_sums> forms;
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
