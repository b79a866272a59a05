// SPDX-License-Identifier: Apache-2.0
//
// The first launch of a forest of many trees, if most of them are short (short_trees.cuh): it does
// what lanes_kernel does otherwise, and one of the two has nothing to do. Both look.
//
//     batch       | 32 trees | the next 32 | ...      a tree a lane
//     a tree of
//       up to short_items items   its lane folds it, while the next offsets come
//       up to 32 runs             waits in the warp's queue, until there are enough for all lanes
//       more                      is left to warps_kernel or blocks_kernel, as lanes_kernel does
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/fold/forest_plan.cuh>
#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/short_trees.cuh>
#include <tilefold/detail/cuda/sched/lanes_kernel.cuh>
#include <tilefold/detail/cuda/sched/tile_kernel.cuh>
#include <tilefold/detail/forest.hpp>

namespace tilefold::detail::cuda {

/// One warp's work.
template <class Work, int Items, int Groups, int Deals>
class short_tree_work {
  using acc = typename Work::acc;
  using source_type = typename Work::source_type;
  using reducer_type = typename Work::reducer_type;
  static constexpr int run_items = stretch_items<source_type>;
  using plan_type = lane_plan<run_items>;
  using deal_type = stretch_fold<source_type, reducer_type, false, true>;

 public:
  // A deal takes 32 trees at most.
  static constexpr int least_waiting = warp_size * Deals;
  static constexpr int most_waiting = least_waiting + warp_size * Groups;

  /// `waiting` has room for most_waiting trees.
  __device__ __forceinline__ short_tree_work(const Work& fold, waiting_tree* room)
      : work(fold), waiting(room) {}

  /// Folds those trees of batches `b`, `b + step`... that are short enough to be dealt.
  __device__ __forceinline__ left_over fold(const tree_batches& batches, int b, int step) {
    left_over others{0, false};
    const int num = static_cast<int>(batches.num());
    if (b >= num) return others;
    int next = static_cast<int>(batches.first(b));
    int end = next + batches.size(b);
    inner = all_inner = work.is_inner(next, end - next);
    read_offsets(next, end);
    do {
      tree_of_lane<source_type, reducer_type, Items == 0 ? run_items : Items> trees[Groups];
      std::int64_t begin[Groups];
      int count[Groups];
#pragma unroll
      for (int g = 0; g < Groups; ++g) {
        begin[g] = first[g];
        count[g] = cuda::planned_length<run_items>(last[g] - first[g], work.plan.warp_items);
        if constexpr (Items > 0) {
          trees[g].load(detail::starting_at(work.forest.source, begin[g]),
                        count[g] > Items ? 0 : count[g], inner);
        }
      }
      const int now = next;
      const int now_end = end;
      next += Groups * warp_size;
      if (next >= end) {
        b += step;
        if (b < num) {
          next = static_cast<int>(batches.first(b));
          end = next + batches.size(b);
          inner = work.is_inner(next, end - next);
          all_inner &= inner;
        }
      }
      read_offsets(next, end);
#pragma unroll
      for (int g = 0; g < Groups; ++g) {
        const int t = now + g * warp_size + lane();
        let_wait(others, begin[g], count[g], t);
        slot<acc> value;
        if constexpr (Items > 0) value.put(trees[g].fold(work.reducer));
        if (t < now_end && count[g] <= Items) work.keep(t, count[g], value.value);
      }
      __syncwarp();
      if constexpr (Deals == 2) {
        while (num_waiting > least_waiting - warp_size) deal_twice();
      } else {
        while (num_waiting >= (b < num ? least_waiting : 1)) deal();
      }
      __syncwarp();
    } while (b < num);
    if constexpr (Deals == 2) {
      while (num_waiting > 0) deal();
    }
    return {cuda::warp_sum(others.for_warps), __any_sync(full_warp, others.for_blocks) != 0};
  }

 private:
  __device__ __forceinline__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }

  __device__ __forceinline__ void read_offsets(int next, int end) {
#pragma unroll
    for (int g = 0; g < Groups; ++g) {
      const int t = next + g * warp_size + lane();
      first[g] = last[g] = 0;
      if (t < end) {
        first[g] = work.forest.first(t);
        last[g] = work.forest.first(t + 1);
      }
    }
  }

  __device__ __forceinline__ void let_wait(left_over& others, std::int64_t begin, int count,
                                           int t) {
    const unsigned longer = __ballot_sync(full_warp, count > Items);
    if (longer == 0) return;
    if (count > Items) {
      others.for_warps += count == plan_type::for_warps;
      others.for_blocks |= count == plan_type::for_blocks;
      waiting[num_waiting + __popc(longer & ((1u << lane()) - 1))] = {begin, count,
                                                                      static_cast<unsigned>(t)};
    }
    num_waiting += __popc(longer);
  }

  // Those that came last, as many as there are lanes for.
  struct dealt_trees {
    plan_type plan;
    unsigned tree;
    deal_type fold;

    __device__ __forceinline__ dealt_trees(short_tree_work& mine, const waiting_tree& waits)
        : plan(waits.count),
          tree(__shfl_sync(full_warp, waits.tree, plan.owner)),
          fold(mine.work.reducer, plan) {
      const std::int64_t begin = cuda::shuffle_from<warp_size>(waits.first, plan.owner, full_warp);
      fold.load(detail::starting_at(mine.work.forest.source, begin), 0,
                mine.all_inner || fold.is_inner());
      mine.num_waiting -= plan.trees;
    }
    __device__ __forceinline__ void finish(const short_tree_work& mine) {
      const acc value = fold.fold();
      if (plan.holds_result()) mine.work.keep(tree, plan.count, value);
    }
  };
  __device__ __forceinline__ waiting_tree waits() const {
    if (lane() < num_waiting) return waiting[num_waiting - 1 - lane()];
    return {0, plan_type::no_tree, 0};
  }
  __device__ __forceinline__ void deal() {
    dealt_trees one(*this, waits());
    one.finish(*this);
  }
  __device__ __forceinline__ void deal_twice() {
    dealt_trees one(*this, waits());
    dealt_trees two(*this, waits());
    one.finish(*this);
    two.finish(*this);
  }

  const Work& work;
  waiting_tree* waiting;
  int num_waiting = 0;
  bool inner = true;      // of the next trees' batch
  bool all_inner = true;  // of all batches so far
  std::int64_t first[Groups];
  std::int64_t last[Groups];
};

template <class Build, int Items, int Groups, int Deals, int Blocks, class Forest, class Reducer,
          class Init, class Empty, class Out>
__global__ void __launch_bounds__(lanes_nt, Blocks)
    short_trees_kernel(Forest forest, Reducer reducer, Init init, Empty empty, Out out,
                       forest_plan plan, long_queue<typename Reducer::accumulator> queue) {
  cuda::wait_for_previous_launch();
  if (!cuda::has_short_trees(forest)) return;
  constexpr int warps_per_block = lanes_nt / warp_size;
  using batch_type = batch_work<Forest, Reducer, Init, Empty, Out, true>;
  using work_type = short_tree_work<batch_type, Items, Groups, Deals>;
  __shared__ waiting_tree waiting[warps_per_block][work_type::most_waiting];
  const batch_type batches_work{forest, reducer, init, empty, out, plan, queue};
  const int warps = static_cast<int>(gridDim.x) * warps_per_block;
  const int warp = static_cast<int>(blockIdx.x * warps_per_block + threadIdx.x / warp_size);
  const tree_batches batches(forest.size(), warps);
  work_type work(batches_work, waiting[threadIdx.x / warp_size]);
  const left_over others = work.fold(batches, warp, warps);
  cuda::leave(batches_work, others, batches, warp, warps);
}

}  // namespace tilefold::detail::cuda
