// SPDX-License-Identifier: Apache-2.0
//
// Segments of a sequence that lies on several ranks. A segment belongs to the rank where it begins;
// ranks behind it hold the rest:
//
//     items       |  rank 0     |  rank 1  |  rank 2       |
//     segments    [a ][b    ][c                 ][d   ][e  ]
//     belong to    0   0      0                  2     2
//     sent                    |  c at 4  |  c at 14        a part's blocks, at its place in c
//
// Rank 0 puts c together. All others are folded where they are. Host code.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/ranks/block_list.hpp>
#include <tilefold/detail/ranks/rank_call.hpp>
#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/error.hpp>
#include <tilefold/op.hpp>

namespace tilefold::detail {

/// Offsets less `shift`.
template <class Offsets>
struct shifted_offsets {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;

  Offsets offsets;
  std::int64_t shift;

  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD std::int64_t operator[](std::int64_t i) const {
    return static_cast<std::int64_t>(detail::element(offsets, i)) - shift;
  }
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD std::int64_t operator*() const { return (*this)[0]; }
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD friend shifted_offsets operator+(const shifted_offsets& it, std::int64_t n) {
    return {detail::starting_at(it.offsets, n), it.shift};
  }
};

/// The left one of two.
struct keep_left {
  template <class T>
  TILEFOLD_HD T operator()(const T& a, const T&) const {
    return a;
  }
};

/// Item i of what the executor reads, all its bits.
template <class T, class Policy, class Executor, class It>
T read_item(Executor& exec, const It& readable, std::int64_t i) {
  std::optional<T> item;
  exec.template fold_blocks<Policy>(source<It>{{detail::starting_at(readable, i)}},
                                    op_reducer<T, keep_left, as_is>{{}, {}}, 0, 1,
                                    [&](const T& value, std::int64_t) { item.emplace(value); });
  return *item;
}

/// Where the first of some segments begins, the last begins, and the last ends.
struct segment_ends {
  std::int64_t first;
  std::int64_t last;
  std::int64_t end;
};

/// Item 0: the ends of `count` segments, so that one launch reads them all.
template <class Offsets>
struct ends_of_segments {
  using value_type = segment_ends;
  using difference_type = std::int64_t;

  Offsets offsets;
  std::int64_t count;

  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD segment_ends operator[](std::int64_t) const {
    return {static_cast<std::int64_t>(detail::element(offsets, 0)),
            static_cast<std::int64_t>(detail::element(offsets, count - 1)),
            static_cast<std::int64_t>(detail::element(offsets, count))};
  }
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD segment_ends operator*() const { return (*this)[0]; }
  TILEFOLD_HD friend ends_of_segments operator+(const ends_of_segments& it, std::int64_t) {
    return it;
  }
};

/// The ends of `count` >= 1 segments, as the executor reads them.
template <class Policy, class Executor, class Offsets>
segment_ends read_ends(Executor& exec, const Offsets& offsets, std::int64_t count) {
  if constexpr (requires { exec.stream(); }) {
    return detail::read_item<segment_ends, Policy>(exec, ends_of_segments<Offsets>{offsets, count},
                                                   0);
  } else {
    // A streamed executor copies items as they lie in memory.
    const auto offset = [&](std::int64_t i) {
      return detail::read_item<std::int64_t, Policy>(exec, offsets, i);
    };
    return {offset(0), offset(count - 1), offset(count)};
  }
}

/// What is folded of a longer sequence: `length` items that stand there from `position` on.
struct rank_share {
  int owner = -1;  // whose sequence that is
  std::int64_t position = 0;
  std::int64_t length = 0;
};

/// Gathers the blocks of every rank's share. `own` are those of this rank's.
template <class Reducer, class Call>
gathered_bytes gather_shares(Call& call, const std::vector<rank_share>& shares,
                             const std::optional<block_list<Reducer>>& own) {
  using list = block_list<Reducer>;
  using accumulator = typename list::accumulator;
  static_assert(std::is_trivially_copyable_v<accumulator>,
                "tilefold: ranks send accumulators as bytes, so they must be trivially copyable");
  int most = 0;
  for (const rank_share& share : shares) {
    const typename list::blocks_type blocks{{share.position, share.position + share.length}};
    most = blocks.count() > most ? blocks.count() : most;
  }
  return call.gather(static_cast<std::size_t>(most) * sizeof(accumulator), [&](std::byte* place) {
    if (!own.has_value()) return;
    const auto values = own->values().bytes();
    if (!values.empty()) std::memcpy(place, values.data(), values.size());
  });
}

/// Adds to `list` what other ranks hold of the sequence of rank `owner`.
template <class Reducer>
void append_shares(block_list<Reducer>& list, const Reducer& reducer, int owner,
                   const std::vector<rank_share>& shares, const gathered_bytes& all) {
  for (std::size_t r = 0; r < shares.size(); ++r) {
    const rank_share& share = shares[r];
    if (share.owner != owner || share.length == 0) continue;
    list.append(reducer, block_list<Reducer>::from(share.position, share.position + share.length,
                                                   all.of(static_cast<int>(r))));
  }
}

/// Folds `length` items of `source` that stand at `position` of a longer sequence.
template <class Policy, class Executor, class Source, class Reducer>
block_list<Reducer> blocks_at(Executor& exec, const Source& source, const Reducer& reducer,
                              std::int64_t position, std::int64_t length) {
  block_list<Reducer> list(position);
  if (length > 0) {
    exec.template fold_blocks<Policy>(detail::in_whole(source, position), reducer, position, length,
                                      [&](const typename Reducer::accumulator& value,
                                          std::int64_t size) { list.push(reducer, value, size); });
  }
  return list;
}

/// The segments of a rank: how many; where the first and the last begin and the last ends.
struct rank_segments {
  std::int64_t count = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t end = 0;
};

/// Which rank holds what of other ranks' last segments. Throws, on all ranks alike, if the segments
/// are not one after the other, or begin elsewhere than on their rank.
inline std::vector<rank_share> shares_of_segments(const rank_parts& parts,
                                                  const std::vector<rank_segments>& segments) {
  const auto refuse = [](std::size_t rank, const std::string& what) {
    throw invalid_range_error("tilefold::segmented_reduce: on rank " + std::to_string(rank) + ' ' +
                              what);
  };
  std::vector<rank_share> shares(segments.size());
  int owner = -1;
  for (std::size_t r = 0; r < segments.size(); ++r) {
    const std::int64_t begin = parts.begin(static_cast<int>(r));
    const std::int64_t end = parts.end(static_cast<int>(r));
    if (owner >= 0) {
      const rank_segments& before = segments[static_cast<std::size_t>(owner)];
      if (before.end > begin) {
        shares[r] = {owner, begin - before.last, (before.end < end ? before.end : end) - begin};
      }
    }
    const rank_segments& own = segments[r];
    if (own.count == 0) continue;
    if (own.first < begin || own.last > end) {
      refuse(r, "segments begin at " + std::to_string(own.first) + " to " +
                    std::to_string(own.last) + ", but it holds items " + std::to_string(begin) +
                    " to " + std::to_string(end) + ": a rank passes the segments that begin there");
    }
    if (own.end < own.last || own.end > parts.total()) {
      refuse(r, "the last segment is [" + std::to_string(own.last) + ", " +
                    std::to_string(own.end) + ") of " + std::to_string(parts.total()) + " items");
    }
    if (owner >= 0 && segments[static_cast<std::size_t>(owner)].end != own.first) {
      refuse(r, "segments begin at " + std::to_string(own.first) + ", but those of rank " +
                    std::to_string(owner) + " end at " +
                    std::to_string(segments[static_cast<std::size_t>(owner)].end));
    }
    owner = static_cast<int>(r);
  }
  return shares;
}

/// Folds the segments of all ranks, of which this one holds num_items items and passes those that
/// begin there.
template <class Policy, class Call, class Executor, class Bound, class MakeForest, class Out>
void fold_rank_segments(Call& call, Executor& exec, std::int64_t num_items, const Bound& bound,
                        std::int64_t num_segments, const MakeForest& make_forest, const Out& out) {
  using reducer = std::remove_cvref_t<decltype(bound.reducer)>;
  using list = block_list<reducer>;
  unless_empty reader{exec, num_items > 0};
  std::optional<decltype(make_forest(reader, bound))> forest;
  rank_segments own;
  call.try_to([&] {
    if (num_items < 0) {
      throw invalid_range_error(
          "tilefold::segmented_reduce: on ranks it must know how many items this one holds: "
          "ranks(comm, exec, num_items)");
    }
    forest.emplace(make_forest(reader, bound));
    if (num_segments == 0) return;
    const segment_ends ends = detail::read_ends<Policy>(exec, forest->offsets, num_segments);
    own = {num_segments, ends.first, ends.last, ends.end};
  });
  const rank_parts parts(call.agree(num_items, {own.count, own.first, own.last, own.end}));
  std::vector<rank_segments> segments;
  for (int r = 0; r < call.size(); ++r) {
    const auto& [count, first, last, end] = call.more_of(r);
    segments.push_back({count, first, last, end});
  }
  const std::vector<rank_share> shares = detail::shares_of_segments(parts, segments);
  const rank_share& mine = shares[static_cast<std::size_t>(call.rank())];
  const std::int64_t begin = parts.begin(call.rank());
  const std::int64_t end = parts.end(call.rank());
  const bool crosses = own.count > 0 && own.end > end;

  // First what others wait for; then, on a GPU while they are told, the segments that lie here.
  const std::int64_t whole = num_segments - (crosses ? 1 : 0);
  std::optional<list> sent;
  list tail(0);
  call.try_to([&] {
    sent =
        detail::blocks_at<Policy>(exec, forest->source, bound.reducer, mine.position, mine.length);
    if (crosses) {
      tail = detail::blocks_at<Policy>(exec, detail::starting_at(forest->source, own.last - begin),
                                       bound.reducer, 0, end - own.last);
    }
    if (whole > 0) {
      const shifted_offsets<decltype(forest->offsets)> offsets{forest->offsets, begin};
      exec.template fold_forest<Policy>(detail::offsets_forest{forest->source, offsets, whole},
                                        whole, bound.reducer, bound.start, bound.empty(""), out);
    }
  });
  const gathered_bytes all = detail::gather_shares<reducer>(call, shares, sent);

  if (crosses) {
    detail::append_shares(tail, bound.reducer, call.rank(), shares, all);
    exec.store(detail::finish(closed_steps{bound.reducer}, bound.start, tail.fold(bound.reducer)),
               detail::starting_at(out, whole));
  }
}

}  // namespace tilefold::detail
