// SPDX-License-Identifier: Apache-2.0
//
// From a range and a public reducer to one launch. Those have four more kernels than operators:
//
//     exact_kernel       exact sums of floats and doubles (exact_short_kernel: of a few floats)
//     select_kernel      lists of the best k, at every length
//     any_order_kernel   any order: an accumulator a thread
//     tile_kernel        staged: large accumulators, a run of neighbours a lane (structs, too)
//
// Host code.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <tilefold/detail/cuda/base/launcher.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/sched/any_order_kernel.cuh>
#include <tilefold/detail/cuda/sched/exact_kernel.cuh>
#include <tilefold/detail/cuda/sched/exact_short_kernel.cuh>
#include <tilefold/detail/cuda/sched/launch_range.cuh>
#include <tilefold/detail/cuda/sched/select_kernel.cuh>
#include <tilefold/detail/cuda/sched/size_queries.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/folding.hpp>
#include <tilefold/error.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// Launches the fold in any order of at least two tiles.
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch_any_order(const range_job<Source, Reducer, Init, Out>& job, const Provide& provide) {
  using acc = typename Reducer::accumulator;
  static known_kernel known;
  const auto kernel = known.on(
      job.gpu, &any_order_kernel<Build, Policy.nt, Policy.vt, Source, unfused<Reducer>, Init, Out>,
      "any_order_kernel", Policy.nt, starts::in_turn);
  // A whole tile for each; loads that are shifted into place take a packet more, at most vt items.
  // And no more blocks than reduce() has tiles by default, for which there is workspace.
  constexpr tile_policy tiles = policy_for(item_bytes<Source>, static_cast<int>(sizeof(acc)));
  const std::int64_t blocks = kernel.most(detail::smaller(
      most_any_order_blocks,
      detail::smaller((job.n - Policy.vt) / Policy.tile(), tree::num_blocks(job.n, tiles.tile()))));
  const workspace_demand of_blocks = cuda::partials_demand(Policy, blocks, sizeof(acc));
  const workspace& space =
      provide(Reducer::settles ? cuda::any_order_demand(Policy, blocks, sizeof(acc)) : of_blocks);
  const scratch<acc> memory = scratch_in<acc>(space);
  unsigned* const settled = memory.arrivals + of_blocks.arrival_bytes / arrival_bytes;
  kernel.launch(blocks, job.stream, job.source, job.reducer, job.init, job.out, job.n, settled,
                memory);
}

/// Launches the fold of a range by lists, in at most `most_blocks` blocks.
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch_select(const range_job<Source, Reducer, Init, Out>& job, std::int64_t most_blocks,
                   const Provide& provide) {
  using acc = typename Reducer::accumulator;
  using elements = unfused<decltype(job.reducer.of_one())>;
  static known_kernel known;
  const auto kernel = known.on(
      job.gpu,
      &select_kernel<Build, Policy.nt, Policy.vt, Source, unfused<Reducer>, elements, Init, Out>,
      "select_kernel", Policy.nt, starts::early);
  const std::int64_t blocks =
      kernel.most(detail::smaller(most_blocks, tree::num_blocks(job.n, Policy.tile())));
  scratch<acc> memory{};
  if (blocks > 1) {
    memory =
        scratch_in<acc>(provide({blocks * static_cast<std::int64_t>(sizeof(acc)), arrival_bytes}));
  }
  // No more warps than there are rows for.
  const int nt = job.n < Policy.nt ? threads_for(job.n, 1) : Policy.nt;
  kernel.launch(grid_shape{blocks, nt}, job.stream, job.source, job.reducer,
                elements{job.reducer.of_one(), {0u}}, job.init, job.out, job.n, memory);
}

/// Launches an exact sum, by Digits.
template <class Build, class Digits, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch_exact_by(const range_job<Source, Reducer, Init, Out>& job, const Provide& provide) {
  using summands = unfused<decltype(job.reducer.of_summands())>;
  using sums_type = digit_sums<Digits::words>;
  static_assert(sizeof(sums_type) <= exact_sums_bytes);
  static known_kernel known;
  const auto kernel =
      known.on(job.gpu, &exact_kernel<Build, Digits, Source, unfused<Reducer>, summands, Init, Out>,
               "exact_kernel", Digits::policy.nt, starts::early);
  const std::int64_t tiles = tree::num_blocks(job.n, Digits::policy.tile());
  // Blocks that meet in memory cost as much as some tiles.
  const std::int64_t blocks = job.n <= most_exact_items_of_block ? 1 : kernel.most(tiles);
  sums_type* sums = nullptr;
  if (blocks > 1) sums = provide(cuda::exact_demand()).template arrivals<sums_type>();
  kernel.launch(blocks, job.stream, job.source, job.reducer,
                summands{job.reducer.of_summands(), {0u}}, job.init, job.out, job.n, sums);
}

/// Launches an exact sum by one block, or by a cluster, if that is right for n; returns whether it
/// did.
template <class Build, class Digits, class Source, class Reducer, class Init, class Out>
bool launch_short_exact(const range_job<Source, Reducer, Init, Out>& job) {
  using summands = unfused<decltype(job.reducer.of_summands())>;
  constexpr tile_policy policy = exact_short_policy;
  if (job.n > most_exact_short_chunks * cluster_blocks * policy.tile()) return false;
  static known_kernel known;
  const auto kernel = known.on(
      job.gpu, &exact_short_kernel<Build, Digits, Source, unfused<Reducer>, summands, Init, Out>,
      "exact_short_kernel", policy.nt, starts::in_clusters);
  const bool alone = job.n <= policy.tile();
  if (!alone && !kernel.clusters) return false;
  const int nt = threads_for(alone ? job.n : tree::num_blocks(job.n, cluster_blocks), policy.vt);
  kernel.launch(grid_shape{alone ? 1 : cluster_blocks, detail::smaller(nt, policy.nt), !alone},
                job.stream, job.source, job.reducer, summands{job.reducer.of_summands(), {0u}},
                job.init, job.out, static_cast<int>(job.n));
  return true;
}

/// Launches an exact sum: short ranges by digits, long ones by bins or rows. Floats
/// go by digits, too, where a GPU adds doubles slowly.
template <class Build, class Source, class Reducer, class Init, class Out, class Provide>
void launch_exact(const range_job<Source, Reducer, Init, Out>& job, const Provide& provide) {
  static_assert(sizeof(typename Reducer::accumulator) >= least_exact_acc_bytes);
  if (job.n > most_exact_items) {
    throw invalid_range_error("tilefold: an exact sum of " + std::to_string(job.n) +
                              " items is more than one launch can cover, " +
                              std::to_string(most_exact_items));
  }
  using number = typename decltype(job.reducer.of_summands())::accumulator;
  using sum = exact_sum_of<unfused<Reducer>>;
  using digits = typename exact_digits<number, typename sum::state>::type;
  static_assert(digits::policy.tile() >= least_exact_tile);
  if constexpr (std::is_same_v<digits, warp_digits<number>>) {
    if (job.n >= least_binned_items) {
      using long_digits =
          typename exact_long_digits<number, typename sum::state, typename sum::value_type>::type;
      const bool fast =
          !adds_doubles_slowly<Build> && adds_doubles_fast(job.gpu.compute_capability);
      if (std::is_same_v<number, double> || fast) {
        cuda::launch_exact_by<Build, long_digits>(job, provide);
      } else if constexpr (std::is_same_v<number, float>) {
        cuda::launch_exact_by<Build, warp_digits<number, exact_long_policy>>(job, provide);
      }
      return;
    }
  }
  if constexpr (sizeof(number) == 4) {
    if (cuda::launch_short_exact<Build, digits>(job)) return;
  }
  cuda::launch_exact_by<Build, digits>(job, provide);
}

template <class R, class Lift, class... Values>
struct range_launch<bound_reducer<R, Lift, Values...>> {
  using reducer = bound_reducer<R, Lift, Values...>;

  template <class Build, class Policy, class Job, class Provide>
  static void run(const Job& job, const Provide& provide) {
    if constexpr (reducer::sums_exactly) {
      cuda::launch_exact<Build>(job, provide);
    } else if constexpr (std::is_same_v<Policy, default_policy>) {
      by_default<Build>(job, provide);
    } else {
      as_chosen<Build, Policy::value>(job, provide);
    }
  }

 private:
  template <class Build, class Source, class Init, class Out, class Provide>
  static void by_default(const range_job<Source, reducer, Init, Out>& job, const Provide& provide) {
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
      cuda::launch_select<Build, select_policy_for(bytes)>(job, most, provide);
    } else if (job.n <= most_short_items(short_tile, acc_bytes)) {
      cuda::launch_short<Build, short_tile>(job, provide);
    } else if constexpr (fold_traits<reducer>::folds_in_any_order) {
      constexpr tile_policy any_order = any_order_policy_for(bytes, kept_bytes<reducer>());
      static_assert(2 * any_order.tile() <= short_tile.tile());
      cuda::launch_any_order<Build, any_order>(job, provide);
    } else if constexpr (stages_reducer<Source, reducer>) {
      // Short ranges of accumulators that blocks hand on end where there is a staged tile for about
      // every SM. Where they do not, the tile kernel serves what is between.
      if constexpr (acc_bytes > most_shared_bytes) {
        constexpr tile_policy staged = staged_shape_of<Source, reducer>.policy();
        if (job.n < job.gpu.num_sms * std::int64_t{staged.tile()}) {
          cuda::launch_tiles<Build, policy>(job, provide);
          return;
        }
      }
      cuda::launch_staged<Build>(job, provide);
    } else if constexpr (stages_structs<Source, reducer>) {
      cuda::launch_staged<Build>(job, provide);
    } else {
      cuda::launch_tiles<Build, policy>(job, provide);
    }
  }

  template <class Build, tile_policy Policy, class Job, class Provide>
  static void as_chosen(const Job& job, const Provide& provide) {
    if constexpr (fold_traits<reducer>::selects) {
      cuda::launch_select<Build, tile_policy{Policy.nt, detail::smaller(Policy.vt, 64)}>(job, job.n,
                                                                                         provide);
    } else if constexpr (fold_traits<reducer>::folds_in_any_order) {
      if (job.n < 2 * Policy.tile()) {
        cuda::launch_tiles<Build, Policy>(job, provide);
      } else {
        cuda::launch_any_order<Build, Policy>(job, provide);
      }
    } else {
      cuda::launch_tiles<Build, Policy>(job, provide);
    }
  }
};

}  // namespace tilefold::detail::cuda
