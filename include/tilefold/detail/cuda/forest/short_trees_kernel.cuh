// SPDX-License-Identifier: Apache-2.0
//
// The first launch of a forest of many trees, if most of them are short. Both
// this kernel and lanes_kernel sample the lengths, and one of the two ends at once. Where every
// tree is promised to be short (segment_bound.hpp), this is the only launch, and nothing is
// sampled.
//
//     forest      | batch 0 | batch 1 | ...      warp w: batches w, w + warps..., a tree a lane
//     a tree of
//       up to short_items items   its lane folds it, while the next offsets come
//       up to 32 stretches        waits in the warp's queue, until all lanes have enough to do
//       more                      is left to warps_kernel or blocks_kernel, as lanes_kernel does
#pragma once

#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/lane_tree.cuh>
#include <tilefold/detail/cuda/forest/forest_plan.cuh>
#include <tilefold/detail/cuda/forest/lanes_kernel.cuh>
#include <tilefold/detail/cuda/load/stretches.cuh>
#include <tilefold/detail/cuda/range/tile_kernel.cuh>

namespace tilefold::detail::cuda {

// Trees that are so short that a lane folds one by itself. A warp takes 32 neighbours at a time:
//
//     trees       0      1         2        3          here a lane takes up to 8 items
//     items       012    3 to 11   12 13    14 to 19
//     lane        0      1         2        3          those of 0, 2 and 3 are folded, all at once,
//                        |                             while the next offsets come
//     queue       ..., tree 1                          32 that are longer are dealt (lane_plan.cuh)
//
// No scan and no shuffle then, as long as trees are short.

/// The tree over up to Items items, in the registers of one lane.
template <class Source, class Reducer, int Items>
class tree_of_lane {
  using acc = typename Reducer::accumulator;

 public:
  /// Fetches the first `count` items of `tree`; `inner` as of lane_stretch::load().
  TILEFOLD_D void load(const Source& tree, int count, bool inner) {
    count_ = count;
    items_.load(tree, 0, count, inner);
  }
  /// Its value, if it has items. All lanes of the warp take part.
  TILEFOLD_D acc fold(const Reducer& reducer) {
    items_.settle();
    return lane_tree<acc>::template within<Items>(
        0, count_, cuda::warp_max(count_), [&](int i) { return items_.lift(reducer, i); },
        [&](const acc& a, const acc& b, int right) {
          return cuda::combine<false>(reducer, a, b, right, count_);
        });
  }

 private:
  int count_;
  lane_stretches<Source, Items, true> items_;
};

/// A tree that waits to be dealt.
struct waiting_tree {
  std::int64_t first;
  int count;
  int tree;
};

/// Batches of 32 trees before and after which memory goes on for 16 bytes. The outer batches, of
/// which that is not known, are the first 2^k and the last 2^k (the very last may be cut), with the
/// least k for which both have items enough.
class inner_batches {
 public:
  template <class Forest>
  TILEFOLD_D explicit inner_batches(const Forest& forest)
      : num_(static_cast<int>(tree::num_blocks(forest.size(), warp_size))) {
    // A lane looks at a k.
    const std::int64_t trees = forest.size();
    const element_range all = forest.all_items();
    const std::int64_t outer = std::int64_t{warp_size} << (threadIdx.x % warp_size);
    const bool fits = 2 * outer < trees;
    const unsigned inside = __ballot_sync(
        full_warp, fits && forest.first(fits ? outer : 0) - all.begin >= load_bytes &&
                       all.end - forest.first(fits ? trees - outer : 0) >= load_bytes);
    begin_ = inside == 0 ? num_ : 1 << (__ffs(static_cast<int>(inside)) - 1);
    end_ = inside == 0 ? num_ : static_cast<int>(trees / warp_size) - begin_;
  }

  TILEFOLD_D int begin() const { return begin_; }
  TILEFOLD_D int end() const { return end_; }
  TILEFOLD_D int num_outer() const { return num_ - (end_ - begin_); }
  TILEFOLD_D int outer(int i) const { return i < begin_ ? i : end_ + i - begin_; }

 private:
  int num_;
  int begin_;
  int end_;
};

/// A warp's shared memory.
struct short_trees_memory {
  static constexpr int most_listed = 14;

  waiting_tree waiting[2 * warp_size];
  // Trees for blocks: of inner batches, and the first that there was no room for, or -1; whether
  // there are any in outer batches.
  int listed[most_listed];
  int num_listed;
  int first_unlisted;
  bool any_outer;
};

/// One warp's work. A batch is 32 trees that lie side by side.
template <class Work>
class short_tree_work {
  using acc = typename Work::acc;
  using source_type = typename Work::source_type;
  using reducer_type = typename Work::reducer_type;
  static constexpr int items_of_stretch = stretch_items<source_type>;
  using plan_type = lane_plan<items_of_stretch>;
  // Whether the caller has promised that all trees are short.
  static constexpr bool all_short = all_dealt<typename Work::forest_type>;

 public:
  TILEFOLD_D short_tree_work(const Work& work, short_trees_memory& memory)
      : work_(work), memory_(memory) {
    if (lane() == 0) {
      memory_.num_listed = 0;
      memory_.first_unlisted = -1;
      memory_.any_outer = false;
    }
    __syncwarp();
  }

  /// Folds those trees of batches `warp`, `warp + warps`... that are short enough to be dealt.
  TILEFOLD_D void fold(int warp, int warps) {
    const inner_batches inner(work_.forest);
    // The last warps may have a batch less.
    for (int g = warps - 1 - warp; g < inner.num_outer(); g += warps) fold_outer(inner.outer(g));
    int batch = inner.begin() + warp;
    const int end = inner.end();
    read_offsets(batch, end);
    while (batch < end) {
      const int t = batch * warp_size + lane();
      const std::int64_t begin = first_;
      const int count = short_length(last_ - first_);
      tree_of_lane<source_type, reducer_type, short_items> tree;
      tree.load(detail::starting_at(work_.forest.source, begin), count > short_items ? 0 : count,
                true);
      batch += warps;
      read_offsets(batch, end);  // come while these are folded
      if constexpr (!all_short) let_wait(begin, count, t, count > short_items, false);
      const acc value = tree.fold(work_.reducer);
      if (all_short || count <= short_items) work_.write_tree(t, count, value);
      if constexpr (!all_short) {
        __syncwarp();
        while (num_waiting_ >= (batch < end ? warp_size : 1)) deal(true);
        __syncwarp();
      }
    }
  }

  /// Queues the trees for blocks, or folds them where there is no room.
  TILEFOLD_D void queue_longest(int warp, int warps) const {
    const auto trees = static_cast<int>(work_.forest.size());
    const inner_batches inner(work_.forest);
    int i = 0;
    int outer = memory_.any_outer ? warps - 1 - warp : inner.num_outer();
    int next = memory_.first_unlisted < 0 ? trees : memory_.first_unlisted;
    while (true) {
      int begin = next;
      int num = 1;
      if (i < memory_.num_listed) {
        begin = memory_.listed[i++];
      } else if (outer < inner.num_outer()) {
        begin = inner.outer(outer) * warp_size;
        num = detail::smaller(warp_size, trees - begin);
        outer += warps;
      } else if (next < inner.end() * warp_size) {
        num = warp_size - next % warp_size;
        next = (next / warp_size + warps) * warp_size;
      } else {
        return;
      }
      work_.queue_longest(begin, num);
    }
  }

 private:
  // What is made of it is not kept from turn to turn: there is no register for that, and a spilled
  // offset would be waited for.
  TILEFOLD_D static int lane() { return cuda::opaque_lane(); }

  TILEFOLD_D void read_offsets(int batch, int end) {
    if (batch >= end) return;
    const int t = batch * warp_size + lane();
    first_ = work_.forest.first(t);
    last_ = work_.forest.first(t + 1);
  }

  // A tree's length as lane_plan takes it; of one longer than promised, what a lane has room for.
  TILEFOLD_D static int short_length(std::int64_t count) {
    if constexpr (all_short) count = detail::smaller(count, std::int64_t{short_items});
    if (count > plan_type::most_items) return plan_type::for_warps;
    return static_cast<int>(detail::larger(count, std::int64_t{0}));
  }

  // A batch at either end of memory: all its trees are dealt.
  TILEFOLD_D void fold_outer(int batch) {
    const int t = batch * warp_size + lane();
    const bool exists = t < work_.forest.size();
    const std::int64_t begin = exists ? work_.forest.first(t) : 0;
    const int count = exists ? short_length(work_.forest.count(t)) : 0;
    let_wait(begin, count, t, count > 0, true);
    if (exists && count == 0) work_.write_tree(t, 0, slot<acc>().value);
    __syncwarp();
    while (num_waiting_ > 0) deal(false);
    __syncwarp();
  }

  TILEFOLD_D void let_wait(std::int64_t begin, int count, int t, bool waits, bool outer) {
    const unsigned longer = __ballot_sync(full_warp, waits);
    if (longer == 0) return;
    if (!all_short && __any_sync(full_warp, count == plan_type::for_warps)) {
      leave_long(count, t, outer);
    }
    if (waits) {
      memory_.waiting[num_waiting_ + __popc(longer & ((1u << lane()) - 1))] = {begin, count, t};
    }
    num_waiting_ += __popc(longer);
  }

  TILEFOLD_D void leave_long(int count, int t, bool outer) const {
    const bool is_left = count == plan_type::for_warps;
    const bool for_blocks = is_left && work_.forest.count(t) > work_.plan.warp_items;
    const unsigned to_warps = __ballot_sync(full_warp, is_left && !for_blocks);
    unsigned to_blocks = __ballot_sync(full_warp, for_blocks);
    if (lane() != 0) return;
    if (to_warps != 0) {
      atomicAdd(&work_.queue.state->num_for_warps,
                static_cast<unsigned long long>(__popc(to_warps)));
    }
    if (outer) {
      memory_.any_outer |= to_blocks != 0;
      return;
    }
    for (; to_blocks != 0; to_blocks &= to_blocks - 1) {
      const int tree = t + __ffs(static_cast<int>(to_blocks)) - 1;
      if (memory_.num_listed < short_trees_memory::most_listed) {
        memory_.listed[memory_.num_listed++] = tree;
      } else if (memory_.first_unlisted < 0) {
        memory_.first_unlisted = tree;
      }
    }
  }

  // Deals the trees that came last, as many as there are lanes for.
  TILEFOLD_D void deal(bool inner) {
    waiting_tree mine{0, plan_type::no_tree, 0};
    if (lane() < num_waiting_) mine = memory_.waiting[num_waiting_ - 1 - lane()];
    const plan_type dealt(mine.count, lane());
    stretch_fold<source_type, reducer_type, false, true> fold(work_.reducer, dealt);
    const std::int64_t begin = cuda::shuffle_from(mine.first, dealt.owner);
    fold.load(detail::starting_at(work_.forest.source, begin), 0, inner || fold.is_inner());
    const int t = __shfl_sync(full_warp, mine.tree, dealt.owner);
    num_waiting_ -= dealt.trees;
    const acc value = fold.fold();
    if (dealt.holds_result()) work_.write_tree(t, dealt.count, value);
  }

  const Work& work_;
  short_trees_memory& memory_;
  int num_waiting_ = 0;
  std::int64_t first_;  // of the next batch
  std::int64_t last_;
};

template <class Build, class Forest, class Reducer, class Init, class Empty, class Out>
__global__ void __launch_bounds__(lanes_nt,
                                  blocks_that_fit(min_resident_short_trees_blocks, lanes_nt))
    short_trees_kernel(Forest forest, Reducer reducer, Init init, Empty empty, Out out,
                       forest_plan plan, long_queue<typename Reducer::accumulator> queue) {
  cuda::wait_for_previous_launch();
  if constexpr (!all_dealt<Forest>) {
    if (!cuda::has_short_trees(forest)) return;
  }
  constexpr int warps_per_block = lanes_nt / warp_size;
  __shared__ short_trees_memory memory[warps_per_block];
  using batch_type = batch_work<Forest, Reducer, Init, Empty, Out, true>;
  const batch_type all{forest, reducer, init, empty, out, plan, queue};
  const int warps = static_cast<int>(gridDim.x) * warps_per_block;
  const int warp = static_cast<int>(blockIdx.x * warps_per_block + threadIdx.x / warp_size);
  short_tree_work<batch_type> work(all, memory[threadIdx.x / warp_size]);
  work.fold(warp, warps);
  if constexpr (!all_dealt<Forest>) work.queue_longest(warp, warps);
}

}  // namespace tilefold::detail::cuda
