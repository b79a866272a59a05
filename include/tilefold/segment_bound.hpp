// SPDX-License-Identifier: Apache-2.0
//
// How many items the longest segment has at most, where the caller knows it.
#pragma once

#include <concepts>
#include <cstdint>

#include <tilefold/detail/verbs/verb.hpp>

namespace tilefold {

/// A promise that no segment has more than `most` items:
///
///     segmented_reduce(exec, first, offsets, num_segments, segment_bound(16), out, ...)
///
/// - Results have the same bits as without it. With bounds of up to 512 items of 1 to 4 bytes, or
///   256 items of 8 bytes, a GPU needs one launch and no workspace.
/// - checked() throws segment_error for the first segment that is longer. Without checked() the
///   value of a longer segment is unspecified; no other memory is read or written.
/// - Ranks, groups of GPUs and streamed executors accept and ignore the bound.
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
