// SPDX-License-Identifier: Apache-2.0
//
// How many items the longest segment has at most, where the caller knows it.
#pragma once

#include <concepts>
#include <cstdint>

#include <tilefold/detail/verb.hpp>

namespace tilefold {

/// A promise that no segment has more than `most` items:
///
///     segmented_reduce(exec, first, offsets, num_segments, segment_bound(16), out, ...)
///
/// - Results are the same bits as without it. A GPU then needs one launch and no workspace where
///   segments are short: of up to 512 items of 1 to 4 bytes, or 256 of 8 bytes.
/// - checked() throws segment_error for the first segment that is longer. Else a longer one has a
///   value that is not said; nothing else is read or written than without it.
/// - Ranks, groups of GPUs and streamed executors take it and make nothing of it.
/// - Throws invalid_range_error for a negative number.
class segment_bound {
 public:
  template <std::integral T>
  explicit segment_bound(T most)
      : most_(detail::count_of("segment_bound", "the most items of a segment", most)) {}
  std::int64_t most() const { return most_; }

 private:
  std::int64_t most_;
};

}  // namespace tilefold
