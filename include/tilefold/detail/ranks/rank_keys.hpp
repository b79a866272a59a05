// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal keys that lie on several ranks. A run belongs to the rank where it begins:
//
//     keys        | 1 1 2 2 3 3 | 3 3 3 | 3 4 4 |       rank 1 begins no run
//     runs          1   2   3               4
//     sent                      | 3 at 2| 3 at 5        blocks, at their place in the run
//
// Whether a rank continues the run before it, its first key and the last one before it tell. Host
// code.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/detail/core/keyed_items.hpp>
#include <tilefold/detail/ranks/rank_call.hpp>
#include <tilefold/detail/ranks/rank_segments.hpp>
#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/op.hpp>

namespace tilefold::detail {

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
struct tilefold::op_traits<tilefold::detail::join_edges, tilefold::detail::run_edges> {
  static constexpr bool commutative = true;
  static constexpr bool order_free = true;
  static constexpr bool separately_rounded = true;
};

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
