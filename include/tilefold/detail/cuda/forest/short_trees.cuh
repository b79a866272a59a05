// SPDX-License-Identifier: Apache-2.0
//
// Trees that are so short that a lane folds one by itself. A warp takes 32 neighbours at a time:
//
//     trees       0      1         2        3          here a lane takes up to 8 items
//     items       012    3 to 11   12 13    14 to 19
//     lane        0      1         2        3          those of 0, 2 and 3 are folded, all at once,
//                        |                             while the next offsets come
//     queue       ..., tree 1                          32 that are longer are dealt (lane_plan.cuh)
//
// No scan and no shuffle then, as long as trees are short. Device code.
#pragma once

#include <cstdint>

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/cuda/base/tuning_forests.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/lane_tree.cuh>
#include <tilefold/detail/cuda/load/stretches.cuh>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// The tree over up to Items items, in the registers of one lane.
template <class Source, class Reducer, int Items>
class tree_of_lane {
  using acc = typename Reducer::accumulator;

 public:
  /// Fetches the first `count` items of `tree`. `inner` says that memory goes on for 16 bytes
  /// before and after them.
  __device__ __forceinline__ void load(const Source& tree, int count, bool inner) {
    count_ = count;
    items_.load(tree, 0, count, inner);
  }
  /// Its value, if it has items. All lanes of the warp take part.
  __device__ __forceinline__ acc fold(const Reducer& reducer) {
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

/// Whether lanes should take whole trees of a forest of at least 1024: most trees are short, or the
/// mean at each place that is looked at would fit a lane. Each lane looks at 32 neighbours, in 32
/// places that are spread over the forest, so every warp that asks gets the same answer.
template <class Forest>
__device__ __forceinline__ bool has_short_trees(const Forest& forest) {
  const std::int64_t lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t t = forest.size() / warp_size * lane;
  const std::int64_t items = forest.first(t + warp_size) - forest.first(t);
  const unsigned places = __ballot_sync(full_warp, items <= most_short_mean * warp_size);
  return __popc(places) >= least_short_places ||
         __all_sync(full_warp, items <= short_items * warp_size);
}

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
  __device__ __forceinline__ explicit inner_batches(const Forest& forest)
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

  __device__ __forceinline__ int begin() const { return begin_; }
  __device__ __forceinline__ int end() const { return end_; }
  __device__ __forceinline__ int num_outer() const { return num_ - (end_ - begin_); }
  __device__ __forceinline__ int outer(int i) const { return i < begin_ ? i : end_ + i - begin_; }

 private:
  int num_;
  int begin_;
  int end_;
};

}  // namespace tilefold::detail::cuda
