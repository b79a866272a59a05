// SPDX-License-Identifier: Apache-2.0
//
// The first launch of a forest that has trees for lanes. Every warp takes batches of neighbours:
//
//     forest      | batch 0 | batch 1 | batch 2 | ...     warp w: batches w, w + warps...
//     batch       | trees that fit 32 lanes | those that fit next | ...
//                    dealt to lanes, folded   lengths read meanwhile     (lane_plan.cuh)
//     a tree of
//       up to 32 * dealt_items items     the lane of its first stretch writes its result
//       more, to plan.longest_for_warp   counted; warps_kernel folds it
//       more than that                   queued for blocks_kernel, after all batches; if the queue
//                                        is full, this warp folds it
#pragma once

#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/detail/cuda/forest/forest_plan.cuh>

namespace tilefold::detail::cuda {

/// Whether every tree can be dealt to lanes: where lanes_kernel is launched for trees of one
/// length, or of a bounded one, they are short enough.
template <class Forest>
inline constexpr bool all_dealt = false;
template <class Source>
inline constexpr bool all_dealt<equal_forest<Source>> = true;
template <class Source, class Offsets>
inline constexpr bool all_dealt<bounded_forest<Source, Offsets>> = true;

/// What a warp has met in its batches, and not folded.
struct left_over {
  int for_warps;    // number of trees for warps
  bool for_blocks;  // whether there are trees for blocks
  unsigned wide;    // bit i: a batch i, i + 32... of the warp has exact sums that are not narrow
};

template <class Forest, class Reducer, class Init, class Empty, class Out, bool Fresh = false>
class batch_work {
  static constexpr int items = dealt_items<typename Forest::source_type, Reducer, Init>;
  using plan_type = lane_plan<items>;
  using trees_type = lane_trees<Forest, items>;

 public:
  using acc = typename Reducer::accumulator;
  using forest_type = Forest;
  using source_type = typename Forest::source_type;
  using reducer_type = Reducer;
  /// Whether exact sums that are not narrow are noted, and folded after all others. A call in the
  /// loop would leave the whole loop fewer registers, which makes doubles slower.
  static constexpr bool notes_wide =
      writes_exact_sums<Reducer, Init> && item_bytes<source_type> == 8;

  const Forest& forest;
  const Reducer& reducer;
  const Init& init;
  const Empty& empty;
  const Out& out;
  const forest_plan& plan;
  const long_queue<acc>& queue;

  /// Folds those trees of batches `b`, `b + step`... that are short enough to be dealt.
  TILEFOLD_D left_over fold_dealt(const tree_batches& batches, std::int64_t b,
                                  std::int64_t step) const {
    left_over others{0, false, 0};
    unsigned nth_batch = 0;
    if (b >= batches.num()) return others;
    // A user's iterators need not be assignable.
    slot<batch> current;
    current.put(batch(*this, batches, b));
    const batch& now = current.value;
    trees_type next(now.forest, 0, now.size, plan.longest_for_warp);
    for (int t = 0; t < now.size;) {
      const trees_type trees = next;
      const plan_type dealt(trees.length);
      stretch_fold<source_type, Reducer, folds_stretches<source_type, Reducer>,
                   writes_exact_sums<Reducer, Init>, lifts_stretches<source_type, Reducer>, items>
          fold(reducer, dealt);
      const source_type tree = trees.tree(now.forest, t, dealt.owner);
      const bool inner = Forest::in_one_range ? now.inner : fold.is_inner();
      fold.load(tree, 0, inner);
      if (!all_dealt<Forest> && lane_of_thread() < dealt.trees) {
        others.for_warps += trees.length == plan_type::for_warps;
        others.for_blocks |= trees.length == plan_type::for_blocks;
      }
      const std::int64_t mine = now.first + t + dealt.owner;
      [[maybe_unused]] const unsigned batch_of_deal = nth_batch;
      t += dealt.trees;
      if (t == now.size && b + step < batches.num()) {
        b += step;
        ++nth_batch;
        current.put(batch(*this, batches, b));
        t = 0;
      }
      // Lengths of the next trees are loaded while these are folded.
      next = trees_type(now.forest, t, now.size, plan.longest_for_warp);
      if constexpr (writes_exact_sums<Reducer, Init>) {
        const bool narrow = fold.visit_narrow_sum([&](const auto& sum) {
          if (dealt.holds_result()) keep_exact(mine, dealt.count, sum);
        });
        if (!narrow) {
          if constexpr (notes_wide) {
            others.wide |= 1u << (batch_of_deal % 32);
          } else {
            cuda::write_wide_sums_apart(tree, reducer, init, empty, out + mine, dealt, inner);
          }
        }
      } else {
        const acc value = fold.fold();
        if (dealt.holds_result()) write_tree(mine, dealt.count, value);
      }
    }
    return {cuda::warp_sum(others.for_warps), __any_sync(full_warp, others.for_blocks) != 0,
            others.wide};
  }

  /// Folds the deals whose sums are not narrow, of the `wide` batches that fold_dealt() has noted.
  TILEFOLD_D void fold_wide(const tree_batches& batches, std::int64_t b, std::int64_t step,
                            unsigned wide) const {
    for (unsigned nth_batch = 0; b < batches.num(); b += step, ++nth_batch) {
      if ((wide >> (nth_batch % 32) & 1) == 0) continue;
      const batch now(*this, batches, b);
#pragma unroll 1
      for (int t = 0; t < now.size;) {
        const trees_type trees(now.forest, t, now.size, plan.longest_for_warp);
        const plan_type dealt(trees.length);
        stretch_fold<source_type, Reducer, folds_stretches<source_type, Reducer>, false,
                     lifts_stretches<source_type, Reducer>, items>
            fold(reducer, dealt);
        const source_type tree = trees.tree(now.forest, t, dealt.owner);
        const bool inner = Forest::in_one_range ? now.inner : fold.is_inner();
        fold.load(tree, 0, inner);
        if (!fold.visit_narrow_sum([](const auto&) {})) {
          cuda::write_wide_sums(tree, reducer, init, empty, out + (now.first + t + dealt.owner),
                                dealt, inner);
        }
        t += dealt.trees;
      }
    }
  }

  /// Queues trees for blocks among [begin, begin + num); folds those that find no room.
  TILEFOLD_D void queue_longest(std::int64_t begin, int num) const {
    const Forest here = forest.from(begin);
    for (int t = 0; t < num; t += warp_size) {
      const trees_type trees(here, t, num, plan.longest_for_warp);
      unsigned longest = __ballot_sync(full_warp, trees.length == plan_type::for_blocks);
      for (; longest != 0; longest &= longest - 1) {  // each time without its lowest bit
        queue_or_fold(begin + t + __ffs(static_cast<int>(longest)) - 1);
      }
    }
  }

  /// Queues tree `t`, which is for blocks, or folds it if the queue is full.
  TILEFOLD_D void queue_or_fold(std::int64_t t) const {
    const bool is_first_lane = threadIdx.x % warp_size == 0;
    const std::int64_t count = forest.count(t);
    bool queued = false;
    if (is_first_lane) queued = cuda::enqueue(queue, plan, t, count);
    if (__any_sync(full_warp, queued)) return;
    if constexpr (writes_exact_sums<Reducer, Init>) {
      cuda::write_wide_sum(forest.tree(t), reducer, init, out + t, count);
    } else {
      const acc value = fold_by_warp(forest.tree(t), count);
      if (is_first_lane) write_tree(t, 1, value);
    }
  }

  /// Whether loads may reach 16 bytes beyond these `num` trees, before and after.
  TILEFOLD_D bool is_inner(std::int64_t begin, int num) const {
    if constexpr (Forest::in_one_range) {
      const element_range all = forest.all_items();
      return forest.first(begin) - all.begin >= load_bytes &&
             all.end - forest.first(begin + num) >= load_bytes;
    } else {
      return false;
    }
  }

  /// Writes the result of tree `t`, of `count` items, of which the exact sum is known.
  template <class Window>
  TILEFOLD_D void keep_exact(std::int64_t t, int count, const Window& sum) const {
    // An `empty` that is an accumulator is the sum of no items.
    if (std::is_same_v<Empty, acc> || count > 0) {
      cuda::write(out + t, reducer.result_of_exact_sum(sum, count));
    } else {
      cuda::write(out + t, detail::result_of_nothing(reducer, empty));
    }
  }

  /// Writes the result of tree `t`, of `count` items.
  TILEFOLD_D void write_tree(std::int64_t t, int count, const acc& value) const {
    if (count > 0) {
      cuda::write(out + t, detail::finish(reducer, init, value));
    } else {
      cuda::write(out + t, detail::result_of_nothing(reducer, empty));
    }
  }

 private:
  struct batch {
    Forest forest;  // from its first tree on
    std::int64_t first;
    int size;
    bool inner;

    TILEFOLD_D batch(const batch_work& work, const tree_batches& batches, std::int64_t b)
        : forest(work.forest.from(batches.first(b))),
          first(batches.first(b)),
          size(batches.size(b)),
          inner(work.is_inner(first, size)) {}
  };

  TILEFOLD_D acc fold_by_warp(const source_type& tree, std::int64_t count) const {
    if constexpr (Fresh) {
      return cuda::fold_stretches_by_warp<source_type, Reducer, false, true>(tree, reducer, 0,
                                                                             count, count);
    } else {
      return cuda::fold_by_warp(tree, reducer, count);
    }
  }
};

/// Leaves trees of batches `b`, `b + step`... to later launches: by counting, or in the queue.
template <class Work>
TILEFOLD_D void leave(const Work& work, const left_over& others, const tree_batches& batches,
                      std::int64_t b, std::int64_t step) {
  if (others.for_warps > 0 && threadIdx.x % warp_size == 0) {
    atomicAdd(&work.queue.state->num_for_warps, static_cast<unsigned long long>(others.for_warps));
  }
  if (!others.for_blocks) return;
  // A loop of its own: in the loop of fold_dealt() this code would take registers from the folds.
  for (; b < batches.num(); b += step) work.queue_longest(batches.first(b), batches.size(b));
}

/// Whether short_trees_kernel shall fold a forest of at least 1024 trees: if most trees are short,
/// or the mean length at each place would fit a lane. Each lane samples 32 neighbouring trees, at
/// 32 places that are spread over the forest, so every warp of both kernels gets the same answer.
template <class Forest>
TILEFOLD_D bool has_short_trees(const Forest& forest) {
  const std::int64_t lane = lane_of_thread();
  const std::int64_t t = forest.size() / warp_size * lane;
  const std::int64_t items = forest.first(t + warp_size) - forest.first(t);
  const unsigned places = __ballot_sync(full_warp, items <= most_short_mean * warp_size);
  return __popc(places) >= least_short_places ||
         __all_sync(full_warp, items <= short_tree_items * warp_size);
}

/// Whether short_trees_kernel was launched before lanes_kernel, where that `May` be. Then it has
/// folded the forest if its trees are short.
template <bool May>
struct short_trees_before {
  bool launched;

  template <class Forest>
  TILEFOLD_D bool has_folded(const Forest& forest) const {
    if constexpr (May) return launched && cuda::has_short_trees(forest);
    return false;
  }
};

template <class Build, class Before, class Forest, class Reducer, class Init, class Empty,
          class Out>
__global__ void __launch_bounds__(lanes_nt,
                                  min_resident_lanes_blocks(sizeof(typename Reducer::accumulator)))
    lanes_kernel(Forest forest, Reducer reducer, Init init, Empty empty, Out out, forest_plan plan,
                 long_queue<typename Reducer::accumulator> queue, Before before) {
  cuda::wait_for_previous_launch();
  if (before.has_folded(forest)) return;
  constexpr int warps_per_block = lanes_nt / warp_size;
  using work_type = batch_work<Forest, Reducer, Init, Empty, Out>;
  const work_type work{forest, reducer, init, empty, out, plan, queue};
  const std::int64_t warps = std::int64_t{gridDim.x} * warps_per_block;
  const std::int64_t warp = std::int64_t{blockIdx.x} * warps_per_block + warp_of_thread();
  const tree_batches batches(forest.size(), warps);
  const left_over others = work.fold_dealt(batches, warp, warps);
  if constexpr (work_type::notes_wide) {
    if (others.wide != 0) work.fold_wide(batches, warp, warps, others.wide);
  }
  if constexpr (!all_dealt<Forest>) cuda::leave(work, others, batches, warp, warps);
}

}  // namespace tilefold::detail::cuda
