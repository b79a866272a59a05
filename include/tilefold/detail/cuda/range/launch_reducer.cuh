// SPDX-License-Identifier: Apache-2.0
//
// From a range and a public reducer to one launch. Beside the kernels of operators, there are:
//
//     exact_kernel       exact sums of floats and doubles (exact/launch_exact.cuh)
//     select_kernel      lists of the best k, at every length (range/launch_select.cuh)
//     any_order_kernel   any order: an accumulator a thread
//     tile_kernel        staged for large accumulators, too: a run of neighbours a lane
//
// Host code.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/folding.hpp>
#include <tilefold/detail/cuda/base/launcher.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/range/any_order_kernel.cuh>
#include <tilefold/detail/cuda/range/launch_range.cuh>
#include <tilefold/detail/cuda/range/size_queries.cuh>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// Launches the fold in any order of at least two tiles.
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class WorkspaceFor>
void launch_any_order(const range_job<Source, Reducer, Init, Out>& job,
                      const WorkspaceFor& workspace_for) {
  using acc = typename Reducer::accumulator;
  static known_kernel known;
  const auto kernel = known.on(
      job.gpu,
      &any_order_kernel<Build, Policy.nt, Policy.vt, Source, closed_reducer<Reducer>, Init, Out>,
      "any_order_kernel", Policy.nt, starts::in_turn);
  // A whole tile for each; loads that are shifted into place take a packet more, at most vt items.
  // And no more blocks than reduce() has tiles by default, for which there is workspace.
  constexpr tile_policy tiles = policy_for(item_bytes<Source>, static_cast<int>(sizeof(acc)));
  const std::int64_t blocks = kernel.most(detail::smaller(
      most_any_order_blocks,
      detail::smaller((job.n - Policy.vt) / Policy.tile(), tree::num_blocks(job.n, tiles.tile()))));
  const workspace_demand of_blocks = cuda::partials_demand(Policy, blocks, sizeof(acc));
  const workspace& space = workspace_for(
      Reducer::settles ? cuda::any_order_demand(Policy, blocks, sizeof(acc)) : of_blocks);
  const scratch<acc> memory = scratch_in<acc>(space);
  unsigned* const settled = memory.arrivals + of_blocks.arrival_bytes / arrival_bytes;
  kernel.launch(blocks, job.stream, job.source, job.reducer, job.init, job.out, job.n, settled,
                memory);
}

// Defined in exact/launch_exact.cuh and launch_select.cuh, which reducers/exact.hpp and top_k.hpp
// include. Left undefined here, so that a missing include is a compile error.
template <class Reducer>
struct exact_launch;
template <class Reducer>
struct select_launch;

template <class R, class Lift, class... Values>
struct range_launch<bound_reducer<R, Lift, Values...>> {
  using reducer = bound_reducer<R, Lift, Values...>;

  template <class Build, class Policy, class Job, class WorkspaceFor>
  static void run(const Job& job, const WorkspaceFor& workspace_for) {
    if constexpr (reducer::sums_exactly) {
      exact_launch<reducer>::template run<Build>(job, workspace_for);
    } else if constexpr (std::is_same_v<Policy, default_policy>) {
      by_default<Build>(job, workspace_for);
    } else {
      as_chosen<Build, Policy::value>(job, workspace_for);
    }
  }

 private:
  template <class Build, class Source, class Init, class Out, class WorkspaceFor>
  static void by_default(const range_job<Source, reducer, Init, Out>& job,
                         const WorkspaceFor& workspace_for) {
    constexpr int bytes = item_bytes<Source>;
    constexpr int acc_bytes = sizeof(typename reducer::accumulator);
    constexpr tile_policy policy = policy_for(bytes, acc_bytes);
    constexpr tile_policy short_tile = short_policy_for(bytes);
    if constexpr (fold_traits<reducer>::selects) {
      // No more blocks than there is workspace for by default.
      const std::int64_t most =
          job.n <= short_tile.tile()
              ? 1
              : detail::smaller(most_short_blocks, tree::num_blocks(job.n, policy.tile()));
      select_launch<reducer>::template run<Build, select_policy_for(bytes)>(job, most,
                                                                            workspace_for);
    } else if (job.n <= most_short_items(short_tile, acc_bytes)) {
      cuda::launch_short<Build, short_tile>(job, workspace_for);
    } else if constexpr (fold_traits<reducer>::folds_in_any_order) {
      constexpr tile_policy any_order = any_order_policy_for(bytes, kept_bytes<reducer>());
      static_assert(2 * any_order.tile() <= short_tile.tile());
      cuda::launch_any_order<Build, any_order>(job, workspace_for);
    } else if constexpr (stages_reducer<Source, reducer>) {
      // Short ranges of accumulators that blocks hand on end where there is a staged tile for about
      // every SM. Where they do not, the tile kernel serves what is between.
      if constexpr (acc_bytes > most_shared_bytes) {
        constexpr tile_policy staged = staged_shape_of<Source, reducer>.policy();
        if (job.n < job.gpu.num_sms * std::int64_t{staged.tile()}) {
          cuda::launch_tiles<Build, policy>(job, workspace_for);
          return;
        }
      }
      cuda::launch_staged<Build>(job, workspace_for);
    } else if constexpr (stages_structs<Source, reducer>) {
      cuda::launch_staged<Build>(job, workspace_for);
    } else {
      cuda::launch_tiles<Build, policy>(job, workspace_for);
    }
  }

  template <class Build, tile_policy Policy, class Job, class WorkspaceFor>
  static void as_chosen(const Job& job, const WorkspaceFor& workspace_for) {
    if constexpr (fold_traits<reducer>::selects) {
      constexpr tile_policy policy{Policy.nt, detail::smaller(Policy.vt, 64)};
      select_launch<reducer>::template run<Build, policy>(job, job.n, workspace_for);
    } else if constexpr (fold_traits<reducer>::folds_in_any_order) {
      if (job.n < 2 * Policy.tile()) {
        cuda::launch_tiles<Build, Policy>(job, workspace_for);
      } else {
        cuda::launch_any_order<Build, Policy>(job, workspace_for);
      }
    } else {
      cuda::launch_tiles<Build, Policy>(job, workspace_for);
    }
  }
};

}  // namespace tilefold::detail::cuda
