// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of trees by lanes and by warps, in a few words where that is enough
// (exact_narrow.cuh). reducers/exact.hpp includes this file; lane_plan.cuh and tree_by_warp.cuh
// call it.
#pragma once

#include <tilefold/detail/cuda/exact/exact_narrow.cuh>
#include <tilefold/detail/cuda/exact/tuning_exact.cuh>
#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

template <class Reducer>
struct exact_lanes {
  /// As stretch_fold::fold(); false if there are rare items among the warp's.
  template <class Stretch, class Acc>
  TILEFOLD_D static bool sum(const Stretch& stretch, slot<Acc>& result) {
    auto mine = stretch.settled_summands();
    auto state = Reducer::no_exact_sum();
    if (!cuda::add_stretches(mine, stretch.stretch_, stretch.stretches_,
                             cuda::warp_max(stretch.stretches_), state))
      return false;
    result.put(Reducer::of_exact_sum(
        state, stretch.items_behind_ + (stretch.stretch_ + 1) * Stretch::items));
    return true;
  }

  /// stretch_fold::visit_narrow_sum().
  template <class Stretch, class Use>
  TILEFOLD_D static bool visit_narrow(Stretch& stretch, const Use& use) {
    auto mine = stretch.summands();
    using number = std::remove_cvref_t<decltype(mine[0])>;
    narrow_sum<number> sum;
    if (!sum.start(cuda::warp_max(sum.bound_of(mine)), 0)) return false;
    if (!sum.template add<true>(mine)) return false;
    sum.visit([&](const auto& words, int least) {
      const int most_stretches = cuda::warp_max(stretch.stretches_);
      const auto all = cuda::sum_of_stretches(
          words, stretch.stretch_, stretch.stretches_, most_stretches,
          [](const auto& a, const auto& b) { return cuda::sum_of_narrow(a, b); });
      narrow_window window = cuda::window_of_narrow(all, least);
      window.marks = seen::other;
      if (__any_sync(full_warp,
                     stretch.stretch_ == 0 && stretch.available_ > 0 && window.size.is_zero())) {
        const int others = cuda::sum_of_stretches(
            cuda::all_minus_zero(mine) ? 0 : 1, stretch.stretch_, stretch.stretches_,
            most_stretches, [](int a, int b) { return a + b; });
        if (others == 0 && stretch.available_ > 0) window.marks = seen::minus_zero;
      }
      use(window);
    });
    return true;
  }

  /// Writes the results of the trees of a plan. Parameters as write_wide_sums() (lane_plan.cuh).
  template <class Source, class Init, class Empty, class Out>
  TILEFOLD_D static void write(const Source& tree, const Reducer& reducer, const Init& init,
                               const Empty& empty, const Out& out,
                               const lane_plan<stretch_items<Source>>& plan, bool inner) {
    stretch_fold<Source, Reducer, folds_stretches<Source, Reducer>, true> fold(reducer, plan);
    fold.load(tree, 0, inner);
    const bool narrow = fold.visit_narrow_sum([&](const narrow_window& sum) {
      if (plan.holds_result()) cuda::write(out, reducer.result_of_exact_sum(sum, plan.count));
    });
    if (!narrow) cuda::write_wide_sums_apart(tree, reducer, init, empty, out, plan, inner);
  }

  /// Writes the results of trees `t`, `t` + step... before `end` through `out`. They have `count`
  /// >= 1 items each; tree_of(t) is tree t. Stripes of all trees are one stream. A tree whose sum
  /// needs more words, or is zero, is folded once more, by a whole state, and a new stream begins
  /// behind it. `One`: there is one tree.
  template <bool One, class TreeOf, class Init, class Out>
  TILEFOLD_D static void write_by_warp(std::int64_t t, std::int64_t step, std::int64_t end,
                                       std::int64_t count, const TreeOf& tree_of,
                                       const Reducer& reducer, const Init& init, const Out& out) {
    using source_type = std::remove_cvref_t<decltype(tree_of(t))>;
    using stripe = stretch_fold<source_type, Reducer, folds_stretches<source_type, Reducer>, true>;
    using number = typename decltype(reducer.of_summands())::accumulator;
    constexpr int items_of_lane = stretch_items<source_type>;
    constexpr int stripe_items = warp_size * items_of_lane;
    // Later stripes may have items 2^headroom times as large as the first stripe's. With a larger
    // headroom floats would lose their lowest digits.
    constexpr int headroom = sizeof(number) == 4 ? 4 : 16;
    struct stripe_place {
      std::int64_t tree;
      std::int64_t done;
    };
    if (t >= end) return;
    if (count > most_narrow_items) {
      for (; t < end; t += step) cuda::write_wide_sum(tree_of(t), reducer, init, out + t, count);
      return;
    }
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    // Rare code stands outside of the stream, of which it would take registers.
    do {
      narrow_sum<number> sum;
      bool fits = true;
      cuda::stream_ahead<stripe>(
          stripe_place{t, 0},
          [&](stripe_place& next) {
            next.done += stripe_items;
            if constexpr (One) return fits && next.done < count;
            if (next.done >= count) next = {next.tree + step, 0};
            return fits && next.tree < end;
          },
          [&](const stripe_place& at) {
            const std::int64_t left = count - at.done;
            const std::int64_t first = at.done + lane * items_of_lane;
            const bool inner =
                first > 0 &&
                (count - first - items_of_lane) * least_item_bytes<source_type> >= load_bytes;
            stripe loaded(reducer, lane,
                          static_cast<int>(detail::smaller(left, std::int64_t{stripe_items})));
            loaded.load(tree_of(at.tree), at.done, inner);
            return loaded;
          },
          [&](stripe& now, const stripe_place& at) {
            if (!fits) return;
            t = at.tree;
            auto items = now.summands();
            if (at.done == 0) fits = sum.start(cuda::warp_max(sum.bound_of(items)), headroom);
            fits = fits && sum.template add<false>(items);
            if (!fits || at.done + stripe_items < count) return;
            sum.visit([&](auto all, int least) {
#pragma unroll
              for (int mask = 1; mask < warp_size; mask *= 2) {
                all = cuda::sum_of_narrow(all, cuda::shuffle_xor(all, mask));
              }
              narrow_window window = cuda::window_of_narrow(all, least);
              window.marks = seen::other;
              fits = !window.size.is_zero();
              if (fits && lane == 0) {
                cuda::write(out + at.tree, reducer.result_of_exact_sum(window, count));
              }
            });
          });
      if (!fits) cuda::write_wide_sum(tree_of(t), reducer, init, out + t, count);
      t += step;
    } while (!One && t < end);
  }
};

}  // namespace tilefold::detail::cuda
