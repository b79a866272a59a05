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
#include <utility>
#include <vector>

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/keyed_items.hpp>
#include <tilefold/detail/ranks/block_list.hpp>
#include <tilefold/detail/ranks/rank_call.hpp>
#include <tilefold/detail/verbs/forest_verb.hpp>
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
  int most = 0;
  for (const rank_share& share : shares) {
    const typename list::blocks_type blocks{{share.position, share.position + share.length}};
    most = blocks.count() > most ? blocks.count() : most;
  }
  const std::size_t bytes = detail::sent_bytes<typename list::accumulator>(most);
  return call.gather(bytes, [&](std::byte* place) {
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

// Runs of equal keys that lie on several ranks. A run belongs to the rank where it begins:
//
//     keys        | 1 1 2 2 3 3 | 3 3 3 | 3 4 4 |       rank 1 begins no run
//     runs          1   2   3               4
//     sent                      | 3 at 2| 3 at 5        blocks, at their place in the run
//
// Whether a rank continues the run before it, its first key and the last one before it tell.

/// The first and the last item of a range, behind its first one, that begin a run.
struct run_edges {
  std::int64_t first;
  std::int64_t last;
};

struct join_edges {
  TILEFOLD_HD run_edges operator()(const run_edges& a, const run_edges& b) const {
    return {a.first < b.first ? a.first : b.first, a.last > b.last ? a.last : b.last};
  }
};

/// The edges that items 1, 2... make by themselves; {size, 0} for none.
template <class Items>
struct edge_iterator {
  using value_type = run_edges;
  using difference_type = std::int64_t;

  Items items;
  std::int64_t skipped = 0;

  TILEFOLD_HD run_edges operator[](std::int64_t i) const {
    const std::int64_t j = skipped + i + 1;
    return items.begins_run(j) ? run_edges{j, j} : run_edges{items.size, 0};
  }
  TILEFOLD_HD run_edges operator*() const { return (*this)[0]; }
  TILEFOLD_HD friend edge_iterator operator+(const edge_iterator& it, std::int64_t n) {
    return {it.items, it.skipped + n};
  }
};

}  // namespace tilefold::detail

template <>
struct tilefold::op_traits<tilefold::detail::join_edges, tilefold::detail::run_edges>
    : tilefold::detail::traits_of_ours<true> {};

namespace tilefold::detail {

template <class Policy, class Executor, class Items>
run_edges edges_of(Executor& exec, const Items& items) {
  run_edges edges{items.size, 0};
  if (items.size < 2) return edges;
  using reducer = op_reducer<run_edges, join_edges, as_is>;
  exec.template fold_blocks<Policy>(source<edge_iterator<Items>>{{edge_iterator<Items>{items}}},
                                    reducer{{}, {}}, 0, items.size - 1,
                                    [&](const run_edges& value, std::int64_t) { edges = value; });
  return edges;
}

/// Which rank holds what of the last run of ranks before it. `edges[r]` and `continues(r)` are rank
/// r's.
template <class Continues>
std::vector<rank_share> shares_of_runs(const rank_parts& parts, const std::vector<run_edges>& edges,
                                       const Continues& continues) {
  std::vector<rank_share> shares(edges.size());
  int before = -1;  // the last rank with items
  rank_share open;  // its last run: whose, and how many items it has so far
  for (std::size_t r = 0; r < edges.size(); ++r) {
    const auto rank = static_cast<int>(r);
    const std::int64_t n = parts.end(rank) - parts.begin(rank);
    if (n == 0) continue;
    const bool one_run = edges[r].last == 0;
    if (before >= 0 && continues(before, rank)) {
      shares[r] = {open.owner, open.length, edges[r].first};
      open.length += edges[r].first;
      if (!one_run) open = {rank, 0, n - edges[r].last};
    } else {
      open = {rank, 0, n - edges[r].last};
    }
    before = rank;
  }
  return shares;
}

/// Folds the runs of all ranks, of which this one has n items; writes those that begin here and
/// returns their number.
template <class Policy, class Call, class Executor, class Bound, class ReadItems, class Equal,
          class KeysOut, class ValuesOut>
std::int64_t fold_rank_keys(Call& call, Executor& exec, std::int64_t n, const Bound& bound,
                            const ReadItems& read_items, const Equal& equal,
                            const KeysOut& keys_out, const ValuesOut& values_out) {
  using reducer = std::remove_cvref_t<decltype(bound.reducer)>;
  using items_type = decltype(read_items());
  using key = std::remove_const_t<typename items_type::key_type>;
  using list = block_list<reducer>;
  static_assert(std::is_trivially_copyable_v<key>,
                "tilefold: ranks send keys as bytes, so they must be trivially copyable");
  struct ends {
    alignas(key) std::byte first[sizeof(key)];
    alignas(key) std::byte last[sizeof(key)];
    run_edges edges;
  };
  std::optional<items_type> items;
  ends own{};
  call.try_to([&] {
    detail::require_count("reduce_by_key", n);
    if (n == 0) return;
    items.emplace(read_items());
    const key first = detail::read_item<key, Policy>(exec, items->keys, 0);
    const key last = detail::read_item<key, Policy>(exec, items->keys, n - 1);
    std::memcpy(own.first, __builtin_addressof(first), sizeof(key));
    std::memcpy(own.last, __builtin_addressof(last), sizeof(key));
    own.edges = detail::edges_of<Policy>(exec, *items);
  });
  const rank_parts parts(call.agree(n));
  const gathered_bytes told =
      call.gather(sizeof own, [&](std::byte* place) { std::memcpy(place, &own, sizeof own); });
  std::vector<ends> of_ranks(static_cast<std::size_t>(call.size()));
  std::vector<run_edges> edges;
  for (int r = 0; r < call.size(); ++r) {
    ends& other = of_ranks[static_cast<std::size_t>(r)];
    std::memcpy(&other, told.of(r), sizeof other);
    edges.push_back(other.edges);
  }
  std::vector<rank_share> shares;
  call.try_to([&] {
    shares = detail::shares_of_runs(parts, edges, [&](int before, int rank) {
      const auto& a = of_ranks[static_cast<std::size_t>(before)];
      const auto& b = of_ranks[static_cast<std::size_t>(rank)];
      return static_cast<bool>(
          equal(*reinterpret_cast<const key*>(a.last), *reinterpret_cast<const key*>(b.first)));
    });
  });
  // A rank that does not know the shares does not know how long the next messages are.
  if constexpr (!noexcept(equal(std::declval<const key&>(), std::declval<const key&>()))) {
    call.tell_whether_failed();
  }
  const rank_share& mine = shares[static_cast<std::size_t>(call.rank())];
  bool crosses = false;
  for (const rank_share& share : shares) crosses |= share.owner == call.rank() && share.length > 0;

  std::optional<list> sent;
  list tail(0);
  std::int64_t runs = 0;
  call.try_to([&] {
    if (n == 0) return;
    sent =
        detail::blocks_at<Policy>(exec, items->source, bound.reducer, mine.position, mine.length);
    if (crosses) {
      tail = detail::blocks_at<Policy>(exec, detail::starting_at(items->source, own.edges.last),
                                       bound.reducer, 0, n - own.edges.last);
    }
    if (n == mine.length) return;
    const items_type begun{
        {detail::starting_at(items->keys, mine.length), items->equal, n - mine.length},
        detail::starting_at(items->source, mine.length)};
    runs =
        exec.template fold_by_key<Policy>(begun, bound.reducer, bound.start, keys_out, values_out);
  });
  const gathered_bytes all = detail::gather_shares<reducer>(call, shares, sent);

  if (crosses) {
    detail::append_shares(tail, bound.reducer, call.rank(), shares, all);
    exec.store(detail::finish(closed_steps{bound.reducer}, bound.start, tail.fold(bound.reducer)),
               detail::starting_at(values_out, runs - 1));
  }
  return runs;
}

}  // namespace tilefold::detail
