// SPDX-License-Identifier: Apache-2.0
//
// Trees that are too long for lanes and too short for blocks, each by a warp (tree_by_warp.cuh):
//
//     equal_trees     | tree 0 | tree 1 | tree 2 | ...      trees of one length
//       warp w          trees w, w + warps...
//
//     counted_trees   s s W s L s s W W s ...               s: done   W: for a warp   L: for blocks
//                     | batch | batch | ...                 1 to 32 neighbouring trees a batch
//       warp w          batches by turns (warps_kernel.cuh); a vote finds the W, which it folds
//
//     uncounted_trees W L W W L ...                         all too long for lanes
//       warp w          trees by turns: it folds the W, and queues the L
//
// The first launch (lanes_kernel.cuh) has counted the W of counted_trees. The L are for
// blocks_kernel: one kernel for both would need the registers of both (docs/notes/tuning.md).
#pragma once

#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/detail/cuda/forest/forest_plan.cuh>

namespace tilefold::detail::cuda {

// Which batches of neighbouring trees a warp takes, so that all warps end at about the same time
// however long their trees are:
//
//     batches    0  1  2  3 | 4  5 | 6  7 | 8  9 | 10 11 | 12 13 | ...     4 warps
//               one each     turn 0 turn 1 turn 2 turn 3  turn 4          the next warp that asks
//
// There are 16 counters of turns, and warp w asks counter w % 16: one counter hands out only
// some 1.5 turns in a nanosecond. Where a batch has little to do, asking takes longer than it
// gains, and warp w takes batches w, w + warps...

/// The batches of warp `warp` of `warps`; warp is less than batches. All counters are 0 before the
/// first warp asks. Every lane of the warp makes every call.
class warp_turns {
 public:
  TILEFOLD_D warp_turns(turn_counters& counters, std::int64_t warp, std::int64_t warps,
                        std::int64_t batches, bool in_turns)
      : counters_(counters),
        batches_(batches),
        warps_(static_cast<unsigned>(warps)),
        warp_(static_cast<unsigned>(warp)),
        turn_(in_turns ? turn_of(warps, batches) : 0) {
    if (in_turns) next_turn_ = take();
  }

  /// Moves on to the warp's next batch; the first one is batch `warp`. False if there are no more.
  TILEFOLD_D bool advance(std::int64_t& batch) {
    if (turn_ == 0) {
      batch += warps_;
    } else if (--left_ > 0) {
      ++batch;
    } else {
      batch = warps_ + std::int64_t{__shfl_sync(full_warp, next_turn_, 0)} * turn_;
      left_ = turn_;
      next_turn_ = take();
    }
    return batch < batches_;
  }

 private:
  TILEFOLD_D static unsigned turn_of(std::int64_t warps, std::int64_t batches) {
    return static_cast<unsigned>(
        detail::larger((batches - warps) / (warps * turns_of_warp), std::int64_t{1}));
  }

  // Takes a turn for the warp, and returns its number in lane 0. Called a turn ahead, so that the
  // warp does not wait for the answer.
  TILEFOLD_D unsigned take() const {
    if (threadIdx.x % warp_size != 0) return 0;
    const unsigned used = detail::smaller(warps_, num_turn_counters);
    const unsigned counter = warp_ % used;
    return atomicAdd(&counters_.taken[counter * turn_counter_words], 1u) * used + counter;
  }

  turn_counters& counters_;
  std::int64_t batches_;
  unsigned warps_;
  unsigned warp_;
  unsigned turn_;      // batches of a turn; 0 if there are no turns
  unsigned left_ = 1;  // batches before the next turn
  unsigned next_turn_ = 0;
};

/// All trees of a forest whose trees have one length.
struct equal_trees {
  TILEFOLD_D bool none() const { return false; }

  /// Calls fold(t, tree, its number of items) for the trees of warp `warp` of `warps`.
  template <int, class Forest, class Fold>
  TILEFOLD_D void for_each(const Forest& forest, std::int64_t warp, std::int64_t warps,
                           const Fold& fold) const {
    for (std::int64_t t = warp; t < forest.size(); t += warps) {
      fold(t, forest.tree(t), forest.length);
    }
  }
};

/// The trees that the first launch has left to warps, and counted; they are found by their lengths.
template <class Acc>
struct counted_trees {
  long_queue<Acc> queue;
  forest_plan plan;

  TILEFOLD_D bool none() const { return queue.state->num_for_warps == 0; }

  /// A warp takes batches of so many neighbouring trees that about one of them is for warps.
  template <int Items, class Forest, class Fold>
  TILEFOLD_D void for_each(const Forest& forest, std::int64_t warp, std::int64_t warps,
                           const Fold& fold) const {
    const std::int64_t size = forest.size();
    const auto num = static_cast<std::int64_t>(queue.state->num_for_warps);
    const auto batch =
        static_cast<int>(detail::bounded(size / num, std::int64_t{1}, std::int64_t{warp_size}));
    const std::int64_t batches = ceil_div(size, batch);
    if (warp >= batches) return;
    using trees_type = lane_trees<Forest, Items>;
    // Where few trees are for warps, a batch holds one or none, and turns do not pay.
    const bool in_turns = batch < warp_size;
    warp_turns turns(queue.state->turns, warp, warps, batches, in_turns);
    cuda::stream_ahead<trees_type>(
        warp, [&](std::int64_t& g) { return turns.advance(g); },
        [&](std::int64_t g) {
          const std::int64_t left = size - g * batch;
          return trees_type(forest.from(g * batch), 0,
                            left < batch ? static_cast<int>(left) : batch, plan.longest_for_warp);
        },
        [&](const trees_type& trees, std::int64_t g) {
          const Forest here = forest.from(g * batch);
          unsigned found = __ballot_sync(full_warp, trees.length == lane_plan<Items>::for_warps);
          for (; found != 0; found &= found - 1) {
            const int owner = __ffs(static_cast<int>(found)) - 1;
            fold(g * batch + owner, trees.tree(here, 0, owner), trees.count(owner));
          }
        });
  }
};

/// The trees of a forest without trees for lanes, for which this is the first launch. Trees for
/// blocks are queued; if the queue is full, a warp folds them.
template <class Acc>
struct uncounted_trees {
  long_queue<Acc> queue;
  forest_plan plan;

  TILEFOLD_D bool none() const { return false; }

  template <int, class Forest, class Fold>
  TILEFOLD_D void for_each(const Forest& forest, std::int64_t warp, std::int64_t warps,
                           const Fold& fold) const {
    const std::int64_t size = forest.size();
    if (warp >= size) return;
    warp_turns turns(queue.state->turns, warp, warps, size, true);
    cuda::stream_ahead<std::int64_t>(
        warp, [&](std::int64_t& t) { return turns.advance(t); },
        [&](std::int64_t t) { return forest.count(t); },
        [&](std::int64_t count, std::int64_t t) {
          bool queued = false;
          if (count > plan.longest_for_warp && threadIdx.x % warp_size == 0) {
            queued = cuda::enqueue(queue, plan, t, count);
          }
          if (!__any_sync(full_warp, queued)) fold(t, forest.tree(t), count);
        });
  }
};

/// Blocks that one SM shall hold at least. As min_resident_slice_blocks().
template <class Trees, class Forest, class Reducer>
constexpr int min_resident_warps_blocks() {
  constexpr bool of_one_length = std::is_same_v<Trees, equal_trees>;
  constexpr std::size_t bytes =
      of_one_length ? folded_bytes<Reducer> : sizeof(typename Reducer::accumulator);
  return warps_for_trees<typename Forest::source_type>(bytes) * warp_size / warps_nt;
}

template <class Build, class Trees, class Forest, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(warps_nt, (min_resident_warps_blocks<Trees, Forest, Reducer>()))
    warps_kernel(Trees trees, Forest forest, Reducer reducer, Init init, Out out) {
  cuda::wait_for_previous_launch();
  if (trees.none()) return;
  constexpr int warps_per_block = warps_nt / warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t first = std::int64_t{blockIdx.x} * warps_per_block + warp;
  const std::int64_t step = std::int64_t{gridDim.x} * warps_per_block;
  if constexpr (writes_exact_sums<Reducer, Init> && std::is_same_v<Trees, equal_trees>) {
    exact_lanes<Reducer>::template write_by_warp<false>(
        first, step, forest.size(), forest.length, [&](std::int64_t t) { return forest.tree(t); },
        reducer, init, out);
  } else {
    using source_type = typename Forest::source_type;
    __shared__ tree_memory<source_type, Reducer, warps_per_block,
                           stages_trees_by_warp<source_type, Reducer>>
        memory;
    // As many items as lanes_kernel deals.
    constexpr int items = dealt_items<source_type, Reducer, Init>;
    trees.template for_each<items>(
        forest, first, step, [&](std::int64_t t, const auto& tree, std::int64_t count) {
          if constexpr (writes_exact_sums<Reducer, Init>) {
            cuda::write_exact_sum(tree, reducer, init, out + t, count);
          } else {
            const auto value = cuda::fold_by_warp(tree, reducer, count, memory);
            if (threadIdx.x % warp_size == 0) {
              cuda::write(out + t, detail::finish(reducer, init, value));
            }
          }
        });
  }
}

}  // namespace tilefold::detail::cuda
