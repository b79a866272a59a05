// SPDX-License-Identifier: Apache-2.0
//
// Sizes that stand in memory which the executor reads and the caller, as yet, does not: how many
// items there are, or how many segments. On a GPU they may be results of work that is on its way,
// such as the number of runs that reduce_by_key_into() wrote.
#pragma once

#include <concepts>
#include <cstdint>

#include <tilefold/detail/verbs/verb.hpp>

namespace tilefold {

/// A size in memory, and an upper bound of it; made by deferred(). Throws invalid_range_error for a
/// negative `most`.
template <std::integral T>
class deferred_size {
 public:
  deferred_size(const T* at, std::int64_t most)
      : at_(at), most_(detail::count_of("deferred", "the most that a size can be", most)) {}
  const T* at() const { return at_; }
  std::int64_t most() const { return most_; }

 private:
  const T* at_;
  std::int64_t most_;
};

/// Returns a size that is read from `at` when the call's work runs; it is at most `most`:
///
///     reduce_into(exec, first, deferred(n, most), out, ...)
///     segmented_reduce_into(exec, first, offsets, deferred(num_segments, most), out, ...)
///
/// - `at` is memory that the executor reads: for a CUDA executor device, managed or pinned memory.
///   It is read in stream order, after earlier work, and must not change until the stream has
///   passed the call.
/// - A number above `most` counts as `most`, a negative one as 0; checked() throws
///   invalid_range_error for both. `most` determines workspace and launches, so it should be close
///   to the size.
/// - Throws invalid_range_error for a negative `most`.
template <std::integral T, std::integral Most>
deferred_size<T> deferred(const T* at, Most most) {
  return {at, detail::count_of("deferred", "the most that a size can be", most)};
}

}  // namespace tilefold
