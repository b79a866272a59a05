// SPDX-License-Identifier: Apache-2.0
//
// The second and the third launch of a forest whose lengths only the GPU knows. They fold the trees
// that the first one (dealt_kernel.cuh) left:
//
//     forest          s s M s L s s M M s ...        s: done   M: for a warp   L: for blocks
//     middle_kernel   | group | group | ...          1 to 32 neighbouring trees a group
//       warp w        groups w, w + warps...; a vote finds the M, the warp folds one by one
//     queue           L: units 0 1 2 | L: units 3 4 5 6 | ...
//     long_kernel
//       block b       units b, b + blocks...         (unit_fold.cuh)
//       last block    clears the counters for the next call
//
// These are two kernels: in one, each part would pay for the registers of the other
// (docs/tuning.md).
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/dealt_fold.cuh>
#include <tilefold/detail/cuda/forest_plan.cuh>
#include <tilefold/detail/cuda/tile_kernel.cuh>
#include <tilefold/detail/cuda/unit_fold.cuh>
#include <tilefold/detail/cuda/warp_tree.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/forest.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// Where units come from when the first launch has queued them.
template <class Acc>
struct queued_units {
  long_queue<Acc> queue;

  template <class Forest>
  __device__ std::int64_t size(const Forest& forest) const {
    const long_tree& last = queue.trees[queue.num_trees() - 1];
    return last.first_unit + tree::num_blocks(forest.count(last.tree), last.unit_items);
  }

  template <class Forest>
  __device__ long_unit find(const Forest& forest, std::int64_t u) const {
    unsigned low = 0;
    for (unsigned high = queue.num_trees(); high - low > 1;) {
      const unsigned middle = low + (high - low) / 2;
      (queue.trees[middle].first_unit <= u ? low : high) = middle;
    }
    const long_tree& entry = queue.trees[low];
    const std::int64_t count = forest.count(entry.tree);
    return {entry.tree,
            count,
            entry.unit_items,
            static_cast<int>(u - entry.first_unit),
            static_cast<int>(tree::num_blocks(count, entry.unit_items)),
            entry.first_slot};
  }

  /// Whether there are no units. If so, this resets the counters for the next call; blocks that ask
  /// later still get the same answer.
  __device__ bool none() const {
    if (queue.num_trees() > 0) return false;
    if (blockIdx.x == 0 && threadIdx.x == 0) queue.state->num_middle = 0;
    return true;
  }

  /// Called by every thread when its block is done, if there are units; the last block resets the
  /// counters for the next call.
  __device__ void finish() const {
    __syncthreads();
    if (threadIdx.x != 0) return;
    __threadfence();
    if (atomicAdd(&queue.state->blocks_done, 1u) + 1 == gridDim.x) {
      *queue.state = typename long_queue<Acc>::counters{};
    }
  }
};

/// The trees that are too long to be dealt and not for blocks, each by a warp.
template <class Forest, class Reducer, class Init, class Out>
class middle_work {
  static constexpr int items = run_items<typename Forest::source_type>;
  using trees_type = lane_trees<Forest, items>;

 public:
  const Forest& forest;
  const Reducer& reducer;
  const Init& init;
  const Out& out;
  std::int64_t warp_items;

  /// There are `num_middle` >= 1 of them; this is warp `warp` of `warps`. A warp looks at as many
  /// neighbouring trees at a time as are likely to hold one: neighbouring warps then read
  /// neighbouring trees.
  __device__ __forceinline__ void run(std::int64_t num_middle, std::int64_t warp,
                                      std::int64_t warps) const {
    const std::int64_t size = forest.size();
    const auto group = static_cast<int>(
        detail::bounded(size / num_middle, std::int64_t{1}, std::int64_t{warp_size}));
    const std::int64_t groups = tree::num_blocks(size, group);
    trees_type next = look_at(warp * group, group);
    for (std::int64_t g = warp; g < groups; g += warps) {
      const Forest part = forest.from(g * group);
      const trees_type trees = next;
      next = look_at((g + warps) * group, group);  // comes while these are folded
      unsigned middle = __ballot_sync(full_warp, trees.length == deal<items>::for_warps);
      for (; middle != 0; middle &= middle - 1) {
        const int owner = __ffs(static_cast<int>(middle)) - 1;
        const auto value =
            cuda::fold_by_warp(trees.tree(part, 0, owner), reducer, trees.count(owner));
        if (threadIdx.x % warp_size == 0) {
          cuda::write(out + (g * group + owner), detail::finish(reducer, init, value));
        }
      }
    }
  }

 private:
  // `group` trees from `begin` on, as far as they exist.
  __device__ __forceinline__ trees_type look_at(std::int64_t begin, int group) const {
    const std::int64_t left = forest.size() - begin;
    const int num = left < group ? static_cast<int>(left) : group;
    return {forest.from(begin), 0, num, warp_items};
  }
};

/// Folds the trees that are for warps.
template <class Build, class Forest, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(
    warps_nt, warps_for_trees<typename Forest::source_type>(sizeof(typename Reducer::accumulator)) *
                  warp_size / warps_nt)
    middle_kernel(long_queue<typename Reducer::accumulator> queue, Forest forest, Reducer reducer,
                  Init init, Out out, std::int64_t warp_items) {
  cuda::wait_for_previous_launch();
  const auto num_middle = static_cast<std::int64_t>(queue.state->num_middle);
  if (num_middle == 0) return;
  constexpr int warps_per_block = warps_nt / warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  middle_work<Forest, Reducer, Init, Out>{forest, reducer, init, out, warp_items}.run(
      num_middle, std::int64_t{blockIdx.x} * warps_per_block + warp,
      std::int64_t{gridDim.x} * warps_per_block);
}

/// Folds the units of the trees that were queued.
template <class Build, int Nt, int Vt, class Forest, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(Nt,
                                  min_resident_blocks(Nt, sizeof(typename Reducer::accumulator)))
    long_kernel(long_queue<typename Reducer::accumulator> queue, Forest forest, Reducer reducer,
                Init init, Out out) {
  using work_type = unit_work<tile_policy{Nt, Vt}, Forest, Reducer, Init, Out>;
  __shared__ typename work_type::shared_memory shared;
  const queued_units<typename Reducer::accumulator> units{queue};
  cuda::wait_for_previous_launch();
  if (units.none()) return;
  cuda::fold_units(units,
                   work_type{forest, reducer, init, out, queue.slots, queue.arrivals, shared});
  units.finish();
}

}  // namespace tilefold::detail::cuda
