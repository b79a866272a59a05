// SPDX-License-Identifier: Apache-2.0
//
// Trees that are too long for lanes and too short for blocks, each by a warp (tree_by_warp.cuh):
//
//     equal_trees     | tree 0 | tree 1 | tree 2 | ...      trees of one length
//       warp w          trees w, w + warps...
//
//     counted_trees   s s W s L s s W W s ...               s: done   W: for a warp   L: for blocks
//                     | group | group | ...                 1 to 32 neighbouring trees a group
//       warp w          groups w, w + warps...; a vote finds the W, the warp folds one by one
//
// The first launch (lanes_kernel.cuh) has counted the W. The L are for blocks_kernel; in one
// kernel, each part would pay for the registers of the other (docs/tuning.md).
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/fold/forest_plan.cuh>
#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/stream.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/forest.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// All trees of a forest whose trees have one length.
struct equal_trees {
  __device__ __forceinline__ bool none() const { return false; }

  /// The trees of warp `warp` of `warps`, one after the other: next(visit) calls visit(t, tree, its
  /// number of items) for the next one, and returns false if there is none.
  template <class Forest>
  class cursor {
   public:
    __device__ __forceinline__ cursor(const equal_trees&, const Forest& forest, std::int64_t warp,
                                      std::int64_t warps)
        : forest_(forest), t_(warp), step_(warps) {}

    template <class Visit>
    __device__ __forceinline__ bool next(const Visit& visit) {
      if (t_ >= forest_.size()) return false;
      visit(t_, forest_.tree(t_), forest_.length);
      t_ += step_;
      return true;
    }

   private:
    const Forest& forest_;
    std::int64_t t_;
    std::int64_t step_;
  };

  /// Calls fold(t, tree, its number of items) for the trees of warp `warp` of `warps`.
  template <class Forest, class Fold>
  __device__ __forceinline__ void for_each(const Forest& forest, std::int64_t warp,
                                           std::int64_t warps, const Fold& fold) const {
    for (std::int64_t t = warp; t < forest.size(); t += warps) {
      fold(t, forest.tree(t), forest.length);
    }
  }
};

/// The trees that the first launch has left to warps. It has counted them; which ones they are,
/// their lengths say.
template <class Acc>
struct counted_trees {
  long_queue<Acc> queue;
  std::int64_t warp_items;

  __device__ __forceinline__ bool none() const { return queue.state->num_for_warps == 0; }

  /// As that of equal_trees.
  template <class Forest>
  class cursor {
    static constexpr int items = stretch_items<typename Forest::source_type>;
    using trees_type = lane_trees<Forest, items>;

   public:
    __device__ __forceinline__ cursor(const counted_trees& trees, const Forest& forest,
                                      std::int64_t warp, std::int64_t warps)
        : forest_(forest),
          warp_items_(trees.warp_items),
          group_(static_cast<int>(detail::bounded(
              forest.size() / static_cast<std::int64_t>(trees.queue.state->num_for_warps),
              std::int64_t{1}, std::int64_t{warp_size}))),
          ahead_(warp),
          step_(warps) {
      read_ahead();
    }

    template <class Visit>
    __device__ __forceinline__ bool next(const Visit& visit) {
      while (found_ == 0) {
        if (!has_ahead_) return false;
        g_ = ahead_;
        trees_.put(next_.value);
        ahead_ += step_;
        read_ahead();
        found_ = __ballot_sync(full_warp, trees_.value.length == lane_plan<items>::for_warps);
      }
      const int owner = __ffs(static_cast<int>(found_)) - 1;
      found_ &= found_ - 1;
      visit(g_ * group_ + owner, trees_.value.tree(forest_.from(g_ * group_), 0, owner),
            trees_.value.count(owner));
      return true;
    }

   private:
    // The next group's lengths come while trees of this one are folded.
    __device__ __forceinline__ void read_ahead() {
      const std::int64_t left = forest_.size() - ahead_ * group_;
      has_ahead_ = left > 0;
      if (has_ahead_) {
        next_.put(trees_type(forest_.from(ahead_ * group_), 0,
                             left < group_ ? static_cast<int>(left) : group_, warp_items_));
      }
    }

    const Forest& forest_;
    const std::int64_t warp_items_;
    const int group_;
    std::int64_t g_ = 0;  // the group of trees_
    std::int64_t ahead_;  // the next one
    const std::int64_t step_;
    bool has_ahead_ = false;
    unsigned found_ = 0;
    slot<trees_type> trees_;
    slot<trees_type> next_;
  };

  /// A warp looks at as many neighbouring trees at a time as are likely to hold one of them:
  /// neighbouring warps then read neighbouring trees.
  template <class Forest, class Fold>
  __device__ __forceinline__ void for_each(const Forest& forest, std::int64_t warp,
                                           std::int64_t warps, const Fold& fold) const {
    constexpr int items = stretch_items<typename Forest::source_type>;
    const std::int64_t size = forest.size();
    const auto num = static_cast<std::int64_t>(queue.state->num_for_warps);
    const auto group =
        static_cast<int>(detail::bounded(size / num, std::int64_t{1}, std::int64_t{warp_size}));
    const std::int64_t groups = tree::num_blocks(size, group);
    if (warp >= groups) return;
    using trees_type = lane_trees<Forest, items>;
    cuda::stream_ahead<trees_type>(
        warp,
        [&](std::int64_t& next) {
          next += warps;
          return next < groups;
        },
        [&](std::int64_t g) {
          const std::int64_t left = size - g * group;
          return trees_type(forest.from(g * group), 0,
                            left < group ? static_cast<int>(left) : group, warp_items);
        },
        [&](const trees_type& trees, std::int64_t g) {
          const Forest part = forest.from(g * group);
          unsigned found = __ballot_sync(full_warp, trees.length == lane_plan<items>::for_warps);
          for (; found != 0; found &= found - 1) {
            const int owner = __ffs(static_cast<int>(found)) - 1;
            fold(g * group + owner, trees.tree(part, 0, owner), trees.count(owner));
          }
        });
  }
};

template <class Build, class Trees, class Forest, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(
    warps_nt, warps_for_trees<typename Forest::source_type>(sizeof(typename Reducer::accumulator)) *
                  warp_size / warps_nt)
    warps_kernel(Trees trees, Forest forest, Reducer reducer, Init init, Out out) {
  cuda::wait_for_previous_launch();
  if (trees.none()) return;
  using source_type = typename Forest::source_type;
  using acc = typename Reducer::accumulator;
  constexpr int warps_per_block = warps_nt / warp_size;
  const int warp_of_block = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t warp = std::int64_t{blockIdx.x} * warps_per_block + warp_of_block;
  const std::int64_t warps = std::int64_t{gridDim.x} * warps_per_block;
  const auto keep = [&](std::int64_t t, const acc& value) {
    if (threadIdx.x % warp_size == 0) cuda::write(out + t, detail::finish(reducer, init, value));
  };
  if constexpr (stages_trees<source_type, Reducer>) {
    using fold_type = staged_trees<source_type, Reducer>;
    using block = typename fold_type::block;
    __shared__ typename fold_type::shared_memory memory[warps_per_block];
    typename Trees::template cursor<Forest> cursor(trees, forest, warp, warps);
    fold_type::fold(
        reducer, memory[warp_of_block],
        [&](slot<block>& place) {
          return cursor.next([&](std::int64_t t, const source_type& tree, std::int64_t count) {
            place.put(block{tree, 0, count, count, t});
          });
        },
        keep);
  } else {
    trees.for_each(forest, warp, warps, [&](std::int64_t t, const auto& tree, std::int64_t count) {
      keep(t, cuda::fold_by_warp(tree, reducer, count));
    });
  }
}

}  // namespace tilefold::detail::cuda
