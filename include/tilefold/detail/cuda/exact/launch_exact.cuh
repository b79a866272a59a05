// SPDX-License-Identifier: Apache-2.0
//
// From a range and an exact sum of floats or doubles to one launch: exact_kernel, or
// exact_short_kernel for few floats. reducers/exact.hpp includes this file, and by it
// exact_lanes.cuh, the exact sums of segments, columns and runs of keys.
#pragma once

#include <tilefold/detail/cuda/exact/exact_kernel.cuh>
#include <tilefold/detail/cuda/exact/exact_lanes.cuh>
#include <tilefold/detail/cuda/exact/exact_short_kernel.cuh>
#include <tilefold/detail/cuda/exact/tuning_exact.cuh>
#include <tilefold/detail/cuda/range/launch_range.cuh>
#include <tilefold/detail/cuda/range/size_queries.cuh>

namespace tilefold::detail::cuda {

/// Launches an exact sum, by Digits.
template <class Build, class Digits, class Source, class Reducer, class Init, class Out,
          class WorkspaceFor>
void launch_exact_by(const range_job<Source, Reducer, Init, Out>& job,
                     const WorkspaceFor& workspace_for) {
  using summands = closed_reducer<decltype(job.reducer.of_summands())>;
  using sums_type = digit_sums<Digits::words>;
  static_assert(sizeof(sums_type) <= exact_sums_bytes);
  static known_kernel known;
  const auto kernel = known.on(
      job.gpu, &exact_kernel<Build, Digits, Source, closed_reducer<Reducer>, summands, Init, Out>,
      "exact_kernel", Digits::policy.nt, starts::early);
  const std::int64_t tiles = tree::num_blocks(job.n, Digits::policy.tile());
  // Several blocks, which meet in memory, take as much longer as some tiles.
  const std::int64_t blocks = job.n <= most_exact_items_of_block ? 1 : kernel.most(tiles);
  sums_type* sums = nullptr;
  if (blocks > 1) sums = workspace_for(cuda::exact_demand()).template arrivals<sums_type>();
  kernel.launch(blocks, job.stream, job.source, job.reducer,
                summands{job.reducer.of_summands(), {0u}}, job.init, job.out, job.n, sums);
}

/// Launches an exact sum by one block or a cluster. False, with nothing launched, of longer ranges.
template <class Build, class Digits, class Source, class Reducer, class Init, class Out>
bool launch_short_exact(const range_job<Source, Reducer, Init, Out>& job) {
  using summands = closed_reducer<decltype(job.reducer.of_summands())>;
  constexpr tile_policy policy = exact_short_policy;
  if (job.n > most_exact_short_chunks * cluster_blocks * policy.tile()) return false;
  static known_kernel known;
  const auto kernel = known.on(
      job.gpu,
      &exact_short_kernel<Build, Digits, Source, closed_reducer<Reducer>, summands, Init, Out>,
      "exact_short_kernel", policy.nt, starts::in_clusters);
  const bool alone = job.n <= policy.tile();
  if (!alone && !kernel.clusters) return false;
  const int nt = threads_for(alone ? job.n : ceil_div(job.n, cluster_blocks), policy.vt);
  kernel.launch(grid_shape{alone ? 1 : cluster_blocks, detail::smaller(nt, policy.nt), !alone},
                job.stream, job.source, job.reducer, summands{job.reducer.of_summands(), {0u}},
                job.init, job.out, static_cast<int>(job.n));
  return true;
}

/// Launches an exact sum: short ranges by digits, long ones by bins. Where a GPU adds doubles
/// slowly, all ranges of floats are added by digits.
template <class Reducer>
struct exact_launch {
  template <class Build, class Job, class WorkspaceFor>
  static void run(const Job& job, const WorkspaceFor& workspace_for) {
    static_assert(sizeof(typename Reducer::accumulator) >= least_exact_acc_bytes);
    if (job.n > most_exact_items) {
      throw invalid_range_error("tilefold: an exact sum of " + std::to_string(job.n) +
                                " items is more than one launch can cover, " +
                                std::to_string(most_exact_items));
    }
    using number = typename decltype(job.reducer.of_summands())::accumulator;
    using sum = exact_sum_of<closed_reducer<Reducer>>;
    using digits = digits_for<number, typename sum::state>;
    static_assert(digits::policy.tile() >= least_exact_tile);
    if constexpr (std::is_same_v<digits, warp_digits<number>>) {
      if (job.n >= least_binned_items) {
        using long_digits = long_digits_for<number, typename sum::state, typename sum::value_type>;
        const bool fast =
            !adds_doubles_slowly<Build> && adds_doubles_fast(job.gpu.compute_capability);
        if (std::is_same_v<number, double> || fast) {
          cuda::launch_exact_by<Build, long_digits>(job, workspace_for);
        } else if constexpr (std::is_same_v<number, float>) {
          cuda::launch_exact_by<Build, warp_digits<number, exact_long_policy>>(job, workspace_for);
        }
        return;
      }
    }
    if constexpr (sizeof(number) == 4) {
      if (cuda::launch_short_exact<Build, digits>(job)) return;
    }
    cuda::launch_exact_by<Build, digits>(job, workspace_for);
  }
};

}  // namespace tilefold::detail::cuda
