// SPDX-License-Identifier: Apache-2.0
//
// The first launch of a forest of many trees, if most of them are short. This kernel and
// lanes_kernel both sample the lengths, and one of them returns at once. If the caller has promised
// that every tree is short (segment_bound.hpp), this is the only launch, and nothing is sampled.
//
//     forest      | batch 0 | batch 1 | ...      a batch has 32 trees, one a lane;
//                                                warp w takes batches w, w + warps...
//     a tree of
//       up to short_tree_items items  its lane folds it, while the next batch's offsets are loaded
//       up to 32 stretches            waits in the warp's shared memory; 32 waiting trees are dealt
//                                     to lanes by stretches (lane_plan.cuh)
//       more                          is left to warps_kernel or blocks_kernel, as by lanes_kernel
//
//     trees       0      1         2        3          here a lane folds up to 8 items
//     items       012    3 to 11   12 13    14 to 19
//     lane        0      1         2        3          lanes 0, 2, 3 fold their trees at the same
//                        |                             time; there is no scan and no shuffle
//     waiting     ..., tree 1
#pragma once

#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/lane_tree.cuh>
#include <tilefold/detail/cuda/forest/forest_plan.cuh>
#include <tilefold/detail/cuda/forest/lanes_kernel.cuh>
#include <tilefold/detail/cuda/load/stretches.cuh>
#include <tilefold/detail/cuda/range/tile_kernel.cuh>

namespace tilefold::detail::cuda {

/// The tree over up to Items items, in the registers of one lane.
template <class Source, class Reducer, int Items>
class tree_of_lane {
  using acc = typename Reducer::accumulator;

 public:
  /// Loads the first `count` items of `tree`; `inner` as in lane_stretch::load().
  TILEFOLD_D void load(const Source& tree, int count, bool inner) {
    count_ = count;
    items_.load(tree, 0, count, inner);
  }
  /// The tree's value, if it has items. All lanes of the warp take part.
  TILEFOLD_D acc fold(const Reducer& reducer) {
    items_.settle();
    return lane_trees_of_some<acc>::template within<Items>(
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

/// The inner batches: those with at least 16 bytes of items before and after them, so that loads
/// may reach beyond a tree. The first 2^k and the last 2^k batches are outer ones, with the least k
/// for which both have so many bytes. (The last batch may have less than 32 trees.)
class inner_batches {
 public:
  template <class Forest>
  TILEFOLD_D explicit inner_batches(const Forest& forest)
      : num_(static_cast<int>(ceil_div(forest.size(), warp_size))) {
    // Lane k looks whether 2^k outer batches at each end are enough; the lowest such lane decides.
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
  // Trees for blocks, which queue_longest() queues in the end.
  int listed[most_listed];  // of inner batches
  int num_listed;
  int first_unlisted;  // the first one of inner batches for which the list had no room, or -1
  bool any_outer;      // whether outer batches have such trees
};

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

  /// Folds this warp's trees that can be dealt: of its outer batches, then of its inner ones.
  TILEFOLD_D void fold(int warp, int warps) {
    const inner_batches inner(work_.forest);
    // Outer batches from the last warp on, because the last warps may have an inner batch less.
    for (int g = warps - 1 - warp; g < inner.num_outer(); g += warps) fold_outer(inner.outer(g));
    int batch = inner.begin() + warp;
    const int end = inner.end();
    read_offsets(batch, end);
    while (batch < end) {
      const int t = batch * warp_size + lane();
      const std::int64_t begin = first_;
      const int count = short_length(last_ - first_);
      tree_of_lane<source_type, reducer_type, short_tree_items> tree;
      tree.load(detail::starting_at(work_.forest.source, begin),
                count > short_tree_items ? 0 : count, true);
      batch += warps;
      read_offsets(batch, end);  // of the next batch: loaded while this one is folded
      if constexpr (!all_short) let_wait(begin, count, t, count > short_tree_items, false);
      const acc value = tree.fold(work_.reducer);
      if (all_short || count <= short_tree_items) work_.write_tree(t, count, value);
      if constexpr (!all_short) {
        // Deals while all lanes have a waiting tree; after the last batch, until no tree waits.
        __syncwarp();
        while (num_waiting_ >= (batch < end ? warp_size : 1)) deal(true);
        __syncwarp();
      }
    }
  }

  /// Queues the trees for blocks, or folds them if the queue is full. In one loop, so that the code
  /// of batch_work::queue_longest() stands once: first the listed trees one by one; then this
  /// warp's outer batches, if any has such a tree; then its inner batches from first_unlisted on.
  TILEFOLD_D void queue_longest(int warp, int warps) const {
    const auto trees = static_cast<int>(work_.forest.size());
    const inner_batches inner(work_.forest);
    int listed = 0;
    int outer = memory_.any_outer ? warps - 1 - warp : inner.num_outer();
    int unlisted = memory_.first_unlisted < 0 ? trees : memory_.first_unlisted;
    while (true) {
      int begin = unlisted;
      int num = 1;
      if (listed < memory_.num_listed) {
        begin = memory_.listed[listed++];
      } else if (outer < inner.num_outer()) {
        begin = inner.outer(outer) * warp_size;
        num = detail::smaller(warp_size, trees - begin);
        outer += warps;
      } else if (unlisted < inner.end() * warp_size) {
        // What is left of this batch; then the warp's next one.
        num = warp_size - unlisted % warp_size;
        unlisted = (unlisted / warp_size + warps) * warp_size;
      } else {
        return;
      }
      work_.queue_longest(begin, num);
    }
  }

 private:
  // Opaque, so that nothing computed from the lane stays in registers across batches: there are
  // none left, and spilled offsets make the warp wait.
  TILEFOLD_D static int lane() { return cuda::opaque_lane(); }

  TILEFOLD_D void read_offsets(int batch, int end) {
    if (batch >= end) return;
    const int t = batch * warp_size + lane();
    first_ = work_.forest.first(t);
    last_ = work_.forest.first(t + 1);
  }

  // A tree's length as lane_plan takes it. A tree longer than promised is cut to what a lane holds.
  TILEFOLD_D static int short_length(std::int64_t count) {
    if constexpr (all_short) count = detail::smaller(count, std::int64_t{short_tree_items});
    if (count > plan_type::most_items) return plan_type::for_warps;
    return static_cast<int>(detail::larger(count, std::int64_t{0}));
  }

  // Folds an outer batch: all its trees are dealt, because loads may not reach beyond them.
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

  // Puts the lane's tree `t` among the waiting trees, if it `waits`, and leaves long trees.
  TILEFOLD_D void let_wait(std::int64_t begin, int count, int t, bool waits, bool outer) {
    const unsigned longer = __ballot_sync(full_warp, waits);
    if (longer == 0) return;
    if (!all_short && __any_sync(full_warp, count == plan_type::for_warps)) {
      leave_long(count, t, outer);
    }
    if (waits) {
      const int waiting_in_lower_lanes = __popc(longer & ((1u << lane()) - 1));
      memory_.waiting[num_waiting_ + waiting_in_lower_lanes] = {begin, count, t};
    }
    num_waiting_ += __popc(longer);
  }

  // Counts the batch's trees for warps, and notes its trees for blocks for queue_longest().
  TILEFOLD_D void leave_long(int count, int t, bool outer) const {
    const bool is_left = count == plan_type::for_warps;
    const bool for_blocks = is_left && work_.forest.count(t) > work_.plan.longest_for_warp;
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
    for (; to_blocks != 0; to_blocks &= to_blocks - 1) {  // each time without its lowest bit
      const int tree = t + __ffs(static_cast<int>(to_blocks)) - 1;
      if (memory_.num_listed < short_trees_memory::most_listed) {
        memory_.listed[memory_.num_listed++] = tree;
      } else if (memory_.first_unlisted < 0) {
        memory_.first_unlisted = tree;
      }
    }
  }

  // Deals waiting trees, the last ones first, as many as there are lanes for.
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
