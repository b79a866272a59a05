// SPDX-License-Identifier: Apache-2.0
//
// Who competes in sums of segments beside tilefold. Includes no tilefold, as peers are compiled
// against another CCCL, too.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "../../support/contestant.hpp"

namespace bench {

/// Sums of all segments in one call: of offsets, which are there in two widths, or of equal lengths
/// (then both tell the same).
struct segments_call : call_memory {
  index num_items;
  index segments;
  index size;     // of every segment; 0 if lengths differ
  index longest;  // of the segments, if the caller knows; else 0
  const std::int64_t* offsets;
  const int* narrow_offsets;
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

}  // namespace bench
