// SPDX-License-Identifier: Apache-2.0
//
// A tree of any length by one warp, as a row of aligned blocks:
//
//     tree          | block 0 | block 1 | block 2 | block 3 | block 4 |
//     stretches     a block is 32 stretches, one a lane (lane_plan.cuh); the next block is loaded
//                   while this one is folded
//     or rows       a block is a group of rows of runs in shared memory (staged_rows.cuh)
//     or tiles      a block is 32 * vt items in rows (tile_fold.cuh)
//     warp_stack    lane 0: block 4      lane 1: -      lane 2: blocks 0 to 3
//                   lane l holds the value of 2^l blocks, which waits for a right neighbour
//     value()       blocks 0 to 3 with block 4
//
// Stretches are for pointers to items of 4 to 8 bytes, and for accumulators that are large for
// their items; rows for those of them that single folds stage, too. fold_by_warp() chooses. Device
// code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/row_merge.cuh>
#include <tilefold/detail/cuda/fold/staged_rows.cuh>
#include <tilefold/detail/cuda/fold/stream.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/folding.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// Partial results of a long fold, one per level of the tree, held by lane `level`: the value of
/// 2^level blocks waits there for its right neighbour. All lanes of the warp push the same values.
template <class Reducer>
class warp_stack {
  using acc = typename Reducer::accumulator;

 public:
  __device__ warp_stack(const Reducer& reducer)
      : reducer_(reducer), lane_(static_cast<int>(threadIdx.x) % warp_size) {}

  __device__ void push(acc value) {
    int level = 0;
    for (unsigned bits = count_; bits & 1; bits >>= 1) {
      replace(value, reducer_.combine(waiting(level++), value));
    }
    if (lane_ == level) waiting_.put(value);
    ++count_;
  }

  /// As if nothing had been pushed.
  __device__ void clear() { count_ = 0; }

  /// The fold of everything pushed, at least one value; the same in every lane.
  __device__ acc value() const {
    int level = __ffs(static_cast<int>(count_)) - 1;
    acc result = waiting(level);
    for (unsigned bits = count_ >> (level + 1); bits != 0; bits >>= 1) {
      ++level;
      if (bits & 1) replace(result, reducer_.combine(waiting(level), result));
    }
    return result;
  }

 private:
  // The node is made apart from its operands: made in place, a combine that copies the left one and
  // adds the right one to it would read what it has overwritten.
  __device__ __forceinline__ static void replace(acc& place, const acc& node) {
    new (&place) acc(node);
  }

  __device__ acc waiting(int level) const {
    words<acc> w = cuda::to_words(waiting_.value);
#pragma unroll
    for (int i = 0; i < words<acc>::count; ++i) {
      w.word[i] = __shfl_sync(full_warp, w.word[i], level);
    }
    return from_words<acc>(w);
  }

  const Reducer& reducer_;
  const int lane_;
  slot<acc> waiting_;
  unsigned count_ = 0;
};

template <class Source>
inline constexpr tile_policy warp_policy{warp_size, policy_for(item_bytes<Source>).vt};

/// Whether stretches come from memory in whole vectors, and are of items large enough.
template <class Source>
inline constexpr bool loads_stretches =
    all_stretch_vectors<Source> && stretch_items<Source> >= least_loaded_stretch;

/// Warps that an SM shall hold where each folds trees.
template <class Source>
constexpr int warps_for_trees(std::size_t acc_bytes) {
  return min_resident_warps(loads_stretches<Source>, acc_bytes);
}

/// An aligned block of `count` >= 1 items, from item `begin` on, of a tree of `total`, by a warp
/// whose lanes fold stretches; the result is in every lane. `Fresh` as of stretch_fold.
template <class Source, class Reducer, bool ByPackets = folds_stretches<Source, Reducer>,
          bool Fresh = false>
__device__ __forceinline__ typename Reducer::accumulator fold_stretches_by_warp(
    const Source& tree, const Reducer& reducer, std::int64_t begin, std::int64_t count,
    std::int64_t total) {
  using row = stretch_fold<Source, Reducer, ByPackets, Fresh>;
  constexpr int items_of_lane = stretch_items<Source>;
  constexpr int row_items = warp_size * items_of_lane;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  warp_stack<Reducer> stack(reducer);
  cuda::stream_ahead<row>(
      std::int64_t{0},
      [&](std::int64_t& next) {
        next += row_items;
        return next < count;
      },
      [&](std::int64_t done) {
        const auto items = static_cast<int>(detail::smaller(count - done, std::int64_t{row_items}));
        const std::int64_t first = begin + done + lane * items_of_lane;
        const bool inner =
            first > 0 &&
            (total - first - items_of_lane) * least_item_bytes<Source> >= std::int64_t{load_bytes};
        row loaded(reducer, lane, items);
        loaded.load(tree, begin + done, inner);
        return loaded;
      },
      [&](row& now, std::int64_t done) {
        if (!ByPackets && done + row_items <= count) {
          stack.push(now.fold_whole_row());
        } else {
          stack.push(cuda::shuffle_from<warp_size>(now.fold(), 0, full_warp));
        }
      });
  return stack.value();
}

/// Whether a warp folds a tree by rows in shared memory: what a single fold stages, too.
template <class Source, class Reducer>
inline constexpr bool stages_trees = folds_stretches<Source, Reducer> &&
                                     stages_reducer<Source, Reducer> && !sums_exactly<Reducer> &&
                                     !fold_traits<Reducer>::folds_in_any_order;

/// An aligned block of a tree as of fold_stretches_by_warp(), by rows. As many groups of rows as
/// there are, then rows, then stretches:
///
///     block    | group: 4 rows | group | ... | row | row | what is left |
///
template <class Source, class Reducer>
class staged_tree {
  using acc = typename Reducer::accumulator;
  using rows_type = staged_rows<Source, Reducer>;
  static constexpr int rows = staged_shape_of<Source, Reducer>.rows;
  static constexpr int least_rows = 1;

 public:
  /// A warp's own.
  struct shared_memory {
    typename rows_type::stage stages[2];
  };

  __device__ __forceinline__ static acc fold(const Source& tree, const Reducer& reducer,
                                             shared_memory& memory, std::int64_t begin,
                                             std::int64_t count, std::int64_t total) {
    const staged_tree work{tree, reducer, rows_type(tree, reducer, memory.stages), begin, count,
                           total};
    warp_stack<Reducer> stack(reducer);
    const std::int64_t whole =
        detail::smaller(count, total - begin - work.rows_of_tree.overread_items());
    std::int64_t done = work.template push_groups<rows>(stack, 0, whole);
    if (done < count) {
      if constexpr (rows > least_rows) {
        // A stack of its own, for these blocks are smaller.
        warp_stack<Reducer> rest(reducer);
        done = work.template push_groups<least_rows>(rest, done, whole);
        if (done < count) rest.push(work.by_stretches(done));
        stack.push(rest.value());
      } else {
        stack.push(work.by_stretches(done));
      }
    }
    return stack.value();
  }

  const Source& tree;
  const Reducer& reducer;
  rows_type rows_of_tree;
  std::int64_t begin, count, total;

 private:
  // Pushes the groups of `Rows` rows from `done` on that end by `end`; returns where they do.
  template <int Rows>
  __device__ __forceinline__ std::int64_t push_groups(warp_stack<Reducer>& stack, std::int64_t done,
                                                      std::int64_t end) const {
    constexpr int group = Rows * rows_type::items;
    if (end - done < group) return done;
    const among_equals<Reducer> equals{reducer};
    std::int64_t next = done;
    rows_of_tree.template groups<Rows>(
        done, [&](std::int64_t at) { return begin + at; },
        [&](std::int64_t& at) {
          at += group;
          next = at;
          return end - at >= group;
        },
        [&](const registers<acc, Rows>& nodes, std::int64_t) {
          stack.push(
              row_fold<Rows, rows_type::run, true, among_equals<Reducer>>(equals, 0, 0).fold(nodes));
        });
    return next;
  }

  __device__ __forceinline__ acc by_stretches(std::int64_t done) const {
    return cuda::fold_stretches_by_warp(tree, reducer, begin + done, count - done, total);
  }
};

struct no_shared_memory {};

/// Shared memory that a warp needs to fold trees.
template <class Source, class Reducer, bool = stages_trees<Source, Reducer>>
struct tree_memory {
  using of_warp = no_shared_memory;
};
template <class Source, class Reducer>
struct tree_memory<Source, Reducer, true> {
  using of_warp = typename staged_tree<Source, Reducer>::shared_memory;
};

/// A tree of any length >= 1 by a warp, a tile at a time; the result is in every lane.
template <class Source, class Reducer>
__device__ __forceinline__ typename Reducer::accumulator fold_by_warp(const Source& tree,
                                                                      const Reducer& reducer,
                                                                      std::int64_t count) {
  if constexpr (folds_stretches<Source, Reducer> || loads_stretches<Source>) {
    return cuda::fold_stretches_by_warp(tree, reducer, 0, count, count);
  } else {
    constexpr int tile = warp_policy<Source>.tile();
    using full_tile = tile_fold<warp_policy<Source>, true, Source, Reducer>;
    using cut_tile = tile_fold<warp_policy<Source>, false, Source, Reducer>;
    const std::int64_t full_items = count - full_tile::overread_items(tree);
    warp_stack<Reducer> stack(reducer);
    std::int64_t done = 0;
#pragma unroll 1
    for (; done + tile <= full_items; done += tile) {
      stack.push(full_tile::fold(tree, reducer, done, tile, nullptr));
    }
#pragma unroll 1
    for (; done < count; done += tile) {
      const auto items = static_cast<int>(detail::smaller(count - done, std::int64_t{tile}));
      stack.push(cut_tile::fold(tree, reducer, done, items, nullptr));
    }
    return stack.value();
  }
}

/// The same with shared memory.
template <class Source, class Reducer>
__device__ __forceinline__ typename Reducer::accumulator fold_by_warp(
    const Source& tree, const Reducer& reducer, std::int64_t count,
    [[maybe_unused]] typename tree_memory<Source, Reducer>::of_warp& memory) {
  if constexpr (stages_trees<Source, Reducer>) {
    return staged_tree<Source, Reducer>::fold(tree, reducer, memory, 0, count, count);
  } else {
    return cuda::fold_by_warp(tree, reducer, count);
  }
}

}  // namespace tilefold::detail::cuda
