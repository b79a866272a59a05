// SPDX-License-Identifier: Apache-2.0
//
// segmented_reduce: one value of each of many segments of a range. Backend-neutral; the executor
// folds.
#pragma once

#include <tilefold/detail/host/many_folds.hpp>

TILEFOLD_WARNINGS_OFF

#include <concepts>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <tilefold/deferred.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/verbs/forest_verb.hpp>
#include <tilefold/dispatch.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/segment_bound.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/cuda/forest/launch_forest.cuh>
#endif

namespace tilefold {

namespace detail {

template <class Offsets>
constexpr void require_integers() {
  static_assert(std::integral<std::iter_value_t<Offsets>>,
                "tilefold: offsets of segments must be integers; segmented_reduce takes the "
                "beginning of the items alone, and no end of them");
}

template <class Executor>
constexpr bool takes_deferred_sizes() {
  using base = executor_base_t<Executor>;
  static_assert(!spans_ranks<base>,
                "tilefold: ranks take no deferred sizes: each has to know how "
                "many items it has");
  static_assert(!cuts_items<base>,
                "tilefold: cuda_group and streamed() take no deferred sizes: the host has to know "
                "them to cut the items");
  return !spans_ranks<base> && !cuts_items<base>;
}

template <class Count>
std::int64_t count_segments(Count num_segments) {
  return detail::count_of("segmented_reduce", "the number of segments", num_segments);
}

/// No bound on the items of a segment.
struct no_segment_bound {};

/// segmented_reduce_into() by offsets, with a segment_bound or none.
template <class Acc, class Exec, class It, class Offsets, class Count, class Bound, class Out,
          class... InitOp>
void fold_between_offsets(Exec& exec, const It& first, const Offsets& offsets, Count num_segments,
                          const Bound& longest, const Out& out, const InitOp&... init_op) {
  detail::require_integers<Offsets>();
  const std::int64_t segments = detail::count_segments(num_segments);
  const auto make_forest = [&](auto& base, const auto& bound) {
    const auto told = detail::read_only(base.accessible(offsets, "offsets"));
    const auto items = detail::source_of_segments(base, bound, first, segments, [&](auto i) {
      return detail::element(told, i) < detail::element(told, i + 1);
    });
    const auto all = detail::offsets_forest{items, told, segments};
    if constexpr (std::same_as<Bound, no_segment_bound>) {
      return all;
    } else if constexpr (spans_ranks<decltype(base)>) {
      return all;
    } else {
      return detail::bounded_forest{all, longest.most()};
    }
  };
  detail::fold_trees_to<Acc, It>(exec, segments, make_forest, out, init_op...);
}

}  // namespace detail

/// Folds every segment of a range with an associative operator or a reducer, and writes segment i's
/// value through out[i].
///
///     segmented_reduce_into(exec, first, offsets, num_segments, out, ...)
///     segmented_reduce_into(exec, first, offsets, num_segments, segment_bound(most), out, ...)
///     segmented_reduce_into(exec, first, begins, ends, num_segments, out, ...)
///     segmented_reduce_into(exec, first, num_segments, segment_size, out, ...)
///
/// Segment i is [offsets[i], offsets[i + 1]) of the items from `first` on, or [begins[i], ends[i]),
/// or the i-th run of `segment_size` items. At the end stands, as in reduce(), nothing (a sum),
/// `op`, `init`, or `init, op`.
///
/// - Result: out[i] has the bits of reduce() over segment i alone with the same arguments, whatever
///   its neighbours, its place and the number of segments. Indices that a reducer yields count from
///   the start of the segment.
/// - Parameters: random-access iterators in memory that the executor reads. Offsets are integers of
///   any type and do not decrease; with begins and ends, which are slower on a GPU, segments may
///   have gaps, overlap and come in any order. `first` must not be null unless no segment has
///   items, on a GPU by their size or number. `out` takes num_segments values.
/// - An empty segment, or one that ends before it begins, gives the value of if_empty(),
///   else `init`, else the operator's identity; if there is none of them, the call does not
///   compile.
/// - Offsets are not validated; use checked() for that.
/// - On a CUDA executor the call is asynchronous in its stream and takes three launches (four for
///   2^20 segments or more of 4 bytes an item, by offsets), or one for equal lengths and for 1024
///   segments or fewer; everything must live until the stream has passed it. Workspace: for offsets
///   cuda_executor::segments_workspace_bytes(); for equal lengths
///   cuda_executor::equal_segments_workspace_bytes(), none up to a tile of items.
/// - Work: as many combines as reduce() would need for each segment.
/// - Throws as reduce() does; invalid_range_error also for a negative number or size of segments.
template <class Acc = void, executor Exec, detail::item_iterator It, detail::item_iterator Begins,
          detail::item_iterator Ends, std::integral Count, detail::output Out, class... InitOp>
  requires(sizeof...(InitOp) <= 2)
void segmented_reduce_into(Exec&& exec, It first, Begins begins, Ends ends, Count num_segments,
                           Out out, InitOp... init_op) {
  detail::require_integers<Begins>();
  detail::require_integers<Ends>();
  const std::int64_t segments = detail::count_segments(num_segments);
  const auto make_forest = [&](auto& base, const auto& bound) {
    const auto from = detail::read_only(base.accessible(begins, "begins"));
    const auto to = detail::read_only(base.accessible(ends, "ends"));
    const auto items = detail::source_of_segments(base, bound, first, segments, [&](auto i) {
      return detail::element(from, i) < detail::element(to, i);
    });
    return detail::segment_forest{items, from, to, segments};
  };
  detail::fold_trees_to<Acc, It>(exec, segments, make_forest, out, init_op...);
}

template <class Acc = void, executor Exec, detail::item_iterator It, detail::item_iterator Offsets,
          std::integral Count, detail::output Out, class... InitOp>
  requires(sizeof...(InitOp) <= 2)
void segmented_reduce_into(Exec&& exec, It first, Offsets offsets, Count num_segments, Out out,
                           InitOp... init_op) {
  detail::fold_between_offsets<Acc>(exec, first, offsets, num_segments, detail::no_segment_bound{},
                                    out, init_op...);
}

template <class Acc = void, executor Exec, detail::item_iterator It, std::integral Count,
          std::integral Size, detail::output Out, class... InitOp>
  requires(sizeof...(InitOp) <= 2)
void segmented_reduce_into(Exec&& exec, It first, Count num_segments, Size segment_size, Out out,
                           InitOp... init_op) {
  const std::int64_t segments = detail::count_segments(num_segments);
  const std::int64_t size = detail::count_of("segmented_reduce", "the segment size", segment_size);
  if (size > 0 && segments > (std::numeric_limits<std::int64_t>::max)() / size) {
    throw invalid_range_error("tilefold::segmented_reduce: " + std::to_string(segments) +
                              " segments of " + std::to_string(size) +
                              " items are more than a range can hold");
  }
  const auto make_forest = [&](auto& base, const auto& bound) {
    return detail::equal_forest{bound.source(detail::unless_empty{base, size > 0}, first), segments,
                                size};
  };
  detail::fold_trees_to<Acc, It>(exec, segments, make_forest, out, init_op...);
}

/// segmented_reduce_into() of segments by offsets, none of which has more items than the bound
/// `longest` (segment_bound.hpp).
template <class Acc = void, executor Exec, detail::item_iterator It, detail::item_iterator Offsets,
          std::integral Count, detail::output Out, class... InitOp>
  requires(sizeof...(InitOp) <= 2)
void segmented_reduce_into(Exec&& exec, It first, Offsets offsets, Count num_segments,
                           segment_bound longest, Out out, InitOp... init_op) {
  detail::fold_between_offsets<Acc>(exec, first, offsets, num_segments, longest, out, init_op...);
}

/// segmented_reduce_into() of a deferred number of segments by offsets. As many values are written
/// to `out`; the values after them are not changed. Workspace and launches are those of most()
/// segments.
template <class Acc = void, executor Exec, detail::item_iterator It, detail::item_iterator Offsets,
          std::integral T, detail::output Out, class... InitOp>
  requires(sizeof...(InitOp) <= 2)
void segmented_reduce_into(Exec&& exec, It first, Offsets offsets, deferred_size<T> num_segments,
                           Out out, InitOp... init_op) {
  detail::require_integers<Offsets>();
  if constexpr (detail::takes_deferred_sizes<Exec>()) {
    const auto make_forest = [&](auto& base, const auto& bound) {
      const auto items = bound.source(base, first);
      const auto told = detail::read_only(base.accessible(offsets, "offsets"));
      const auto at = base.accessible(num_segments.at(), "num_segments");
      return detail::deferred_forest<std::remove_cvref_t<decltype(items)>,
                                     std::remove_cvref_t<decltype(told)>,
                                     std::remove_cvref_t<decltype(at)>>{
          items, told, {at, num_segments.most()}, 0};
    };
    detail::fold_trees_to<Acc, It>(exec, num_segments.most(), make_forest, out, init_op...);
  }
}

namespace detail {

// reduce_into() of a deferred size: one segment.
template <class Acc>
struct deferred_range {
  template <class Exec, class It, class Size, class Out, class... InitOp>
  static void write(Exec& exec, const It& first, const Size& n, const Out& out,
                    const InitOp&... init_op) {
    if constexpr (detail::takes_deferred_sizes<Exec>()) {
      const auto make_forest = [&](auto& base, const auto& bound) {
        const auto items = bound.source(detail::unless_empty{base, n.most() > 0}, first);
        const auto at = base.accessible(n.at(), "n");
        return detail::deferred_tree<std::remove_cvref_t<decltype(items)>,
                                     std::remove_cvref_t<decltype(at)>>{items, {at, n.most()}};
      };
      detail::fold_trees_to<Acc, It>(exec, 1, make_forest, out, init_op...);
    }
  }
};

/// Whether a call of segmented_reduce_into() has a range for iterators, no executor, no output or
/// no number of segments behind begins and ends.
template <class... Arguments>
inline constexpr bool no_segments = false;
template <class First, class... More>
inline constexpr bool no_segments<First, More...> = item_iterator<First> || item_range<First>;
template <executor Exec, class First, class... More>
inline constexpr bool no_segments<Exec, First, More...> =
    sizeof...(More) < 3 || (item_range<First> && !std::is_array_v<First>);
template <executor Exec, item_iterator It, item_iterator Begins, item_iterator Ends, class Count,
          class... Out>
inline constexpr bool no_segments<Exec, It, Begins, Ends, Count, Out...> =
    !std::integral<Count> || sizeof...(Out) == 0;

/// Whether items or offsets cannot be indexed.
template <class... Arguments>
concept segments_not_indexed = not_indexed_at<0, Arguments...> || not_indexed_at<1, Arguments...>;

}  // namespace detail

template <class Acc = void, class... Arguments>
  requires detail::segments_not_indexed<Arguments...>
void segmented_reduce_into(const Arguments&...) {
  detail::refuse_for<detail::refusal::not_indexed>();
}

template <class Acc = void, class... Arguments>
  requires(detail::no_segments<Arguments...> && !detail::segments_not_indexed<Arguments...>)
void segmented_reduce_into(const Arguments&...) {
  static_assert(!detail::no_segments<Arguments...>,
                "tilefold: the order of segmented_reduce is (first, offsets, num_segments, out, "
                "init, op), or (first, begins, ends, num_segments, out, init, op), where all but "
                "num_segments are iterators or pointers; before them an executor or a stream, "
                "which segmented_reduce_into needs");
}

/// Does the same synchronously. The executor may be left out: then the memory of everything that
/// the call reads and writes decides, as in reduce().
template <class Acc = void, executor Exec, class... Arguments>
void segmented_reduce(Exec&& exec, Arguments... arguments) {
  detail::wait_for(exec, [&] { tilefold::segmented_reduce_into<Acc>(exec, arguments...); });
}

template <class Acc = void, class Dispatch = detail::default_dispatch, detail::item_iterator It,
          class... Arguments>
void segmented_reduce(It first, Arguments... arguments) {
  Dispatch::template with_executor<Arguments...>(
      first, [&](auto&& exec) { tilefold::segmented_reduce<Acc>(exec, first, arguments...); },
      arguments...);
}

template <class Acc = void, class Dispatch = detail::default_dispatch, class... Arguments>
  requires detail::not_indexed_at<0, Arguments...>
void segmented_reduce(const Arguments&... arguments) {
  tilefold::segmented_reduce_into(arguments...);
}

template <class Acc = void, detail::item_range Range, class... Arguments>
  requires(!std::is_array_v<Range>)
void segmented_reduce(const Range& range, const Arguments&... arguments) {
  tilefold::segmented_reduce_into(range, arguments...);
}

TILEFOLD_TAKES_STAND_INS(segmented_reduce)
TILEFOLD_TAKES_STAND_INS(segmented_reduce_into)

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
