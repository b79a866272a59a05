// SPDX-License-Identifier: Apache-2.0
//
// segmented_reduce: one value of each of many segments of a range.
// Backend-neutral; the executor folds.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>

#include <tilefold/detail/forest.hpp>
#include <tilefold/detail/verb.hpp>
#include <tilefold/dispatch.hpp>

namespace tilefold {

/// Folds every segment of a range with an associative operator and writes segment i's value through
/// out[i].
///
///     segmented_reduce_into(exec, first, offsets, num_segments, out, ...)        [offsets[i],
///     offsets[i + 1]) segmented_reduce_into(exec, first, begins, ends, num_segments, out, ...)
///     [begins[i], ends[i]) segmented_reduce_into(exec, first, num_segments, segment_size, out,
///     ...)   equal lengths
///
/// and at the end, as in reduce(): nothing (a sum), `op`, `init`, or `init, op`.
///
/// - Result: out[i] has the bits of reduce() over segment i alone with the same arguments, whatever
///   its neighbours, its place and the number of segments ("batch invariance").
/// - Parameters: random-access iterators in memory that the executor reads; offsets count items
/// from
///   `first`, of any integer type; segments may have gaps, overlap and come in any order. `out` is
///   a random-access iterator for num_segments values.
/// - An empty segment gives `init`, else the operator's identity; a compile error asks for one of
///   them if there is neither. So does a segment whose end lies before its begin.
/// - On a CUDA executor the call is asynchronous in its stream and takes at most two launches;
///   everything must live until the stream has passed it. Workspace: at most 24 bytes for every
///   segment of the first 2^18, one accumulator and counter for each of 2^14 units of long
///   segments, 2 MiB or more in all; for equal lengths up to one for every 2^13 items or so, mostly
///   none.
/// - Work: as many combines as reduce() would need for each segment.
/// - Throws as reduce() does; invalid_range_error also for a negative number or size of segments.
template <class Acc = void, executor Exec, detail::item_iterator It, detail::item_iterator Begins,
          detail::item_iterator Ends, std::integral Count, class Out, class... InitOp>
requires(sizeof...(InitOp) <= 2) void segmented_reduce_into(Exec&& exec, It first, Begins begins,
                                                            Ends ends, Count num_segments, Out out,
                                                            InitOp... init_op) {
  const std::int64_t segments = detail::count_of("segmented_reduce", "the number of segments",
                                                 static_cast<std::int64_t>(num_segments));
  detail::with_init_and_op<std::iter_value_t<It>>(
      [&](const auto& init, const auto& op) {
        detail::forest_to<Acc>(
            exec,
            [&](auto& base, const auto& source) {
              auto readable_begins = base.readable(begins, "begins");
              auto readable_ends = base.readable(ends, "ends");
              return detail::segment_forest<std::remove_cvref_t<decltype(source)>,
                                            decltype(readable_begins), decltype(readable_ends)>{
                  source, readable_begins, readable_ends, segments};
            },
            segments, out, init, op, first);
      },
      init_op...);
}

template <class Acc = void, executor Exec, detail::item_iterator It, detail::item_iterator Offsets,
          std::integral Count, class Out, class... InitOp>
requires(sizeof...(InitOp) <= 2) void segmented_reduce_into(Exec&& exec, It first, Offsets offsets,
                                                            Count num_segments, Out out,
                                                            InitOp... init_op) {
  tilefold::segmented_reduce_into<Acc>(exec, first, offsets, offsets + 1, num_segments, out,
                                       init_op...);
}

template <class Acc = void, executor Exec, detail::item_iterator It, std::integral Count,
          std::integral Size, class Out, class... InitOp>
requires(sizeof...(InitOp) <= 2) void segmented_reduce_into(Exec&& exec, It first,
                                                            Count num_segments, Size segment_size,
                                                            Out out, InitOp... init_op) {
  const std::int64_t segments = detail::count_of("segmented_reduce", "the number of segments",
                                                 static_cast<std::int64_t>(num_segments));
  const std::int64_t size = detail::count_of("segmented_reduce", "the segment size",
                                             static_cast<std::int64_t>(segment_size));
  detail::with_init_and_op<std::iter_value_t<It>>(
      [&](const auto& init, const auto& op) {
        detail::forest_to<Acc>(
            exec,
            [&](auto&, const auto& source) {
              return detail::equal_forest<std::remove_cvref_t<decltype(source)>>{source, segments,
                                                                                 size};
            },
            segments, out, init, op, first);
      },
      init_op...);
}

/// The same, done when the call returns. The executor may be left out: `first` then decides, as in
/// reduce().
template <class Acc = void, executor Exec, class... Arguments>
void segmented_reduce(Exec&& exec, const Arguments&... arguments) {
  tilefold::segmented_reduce_into<Acc>(exec, arguments...);
  detail::executor_parts<std::remove_cvref_t<Exec>>::base(exec).synchronize();
}

template <class Acc = void, class Dispatch = detail::default_dispatch, detail::item_iterator It,
          class... Arguments>
void segmented_reduce(It first, const Arguments&... arguments) {
  Dispatch::template with_executor<>(
      first, [&](auto&& exec) { tilefold::segmented_reduce<Acc>(exec, first, arguments...); });
}

}  // namespace tilefold
