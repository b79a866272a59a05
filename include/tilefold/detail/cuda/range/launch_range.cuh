// SPDX-License-Identifier: Apache-2.0
//
// From a range to one launch. Which kernel, by default; the first line that fits a reducer and n:
//
//     exact sums of floats and doubles         exact_kernel... (exact/launch_exact.cuh)
//     lists of the best k                      select_kernel (launch_select.cuh)
//     a short range                            short_kernel
//     reducers whose order does not matter     any_order_kernel (launch_any_order.cuh)
//     large accumulators, and structs          tile_kernel, staged: a cell of neighbours a lane
//     all else                                 tile_kernel
//
// Under a policy that the caller chose no range is short, and no tile is staged.
#pragma once

#include <tilefold/detail/cuda/base/launcher.cuh>
#include <tilefold/detail/cuda/range/short_kernel.cuh>
#include <tilefold/detail/cuda/range/size_queries.cuh>
#include <tilefold/detail/cuda/range/tile_kernel.cuh>

namespace tilefold::detail::cuda {

/// A fold of elements [0, n) of a source, n >= 1, and where it runs.
template <class Source, class Reducer, class Init, class Out>
struct range_job {
  using acc = typename Reducer::accumulator;

  const Source& source;
  closed_reducer<Reducer> reducer;
  const Init& init;
  std::int64_t n;
  Out out;
  const device_info& gpu;
  cudaStream_t stream;
};

/// A launch's part of the workspace.
template <class Acc>
scratch<Acc> scratch_in(const workspace& space) {
  return {space.partials<Acc>(), space.arrivals()};
}

/// Threads of a block for n items, vt items a thread: the least power of two of warps.
constexpr int threads_for(std::int64_t n, int vt) {
  return warp_size << tree::ceil_log2(ceil_div(n, warp_size * vt));
}

/// Blocks and threads for a short range. One block while few threads are enough, because exchange
/// between blocks would cost more than further threads gain. For longer ranges a cluster; then
/// small tiles, of `tuning.short_nt` threads, to spread over the GPU. (Without clusters one block
/// takes a whole tile on every GPU: size queries ask for no workspace up to there.)
constexpr grid_shape short_shape_for(tile_policy short_tile, std::int64_t n, bool clusters,
                                     const launch_tuning& tuning) {
  if (n <= short_tile.tile() / (clusters ? tuning.short_tile_parts : 1)) {
    return {1, threads_for(n, short_tile.vt), false};
  }
  if (clusters && n <= std::int64_t{cluster_blocks} * short_tile.tile()) {
    return {cluster_blocks, threads_for(ceil_div(n, cluster_blocks), short_tile.vt), true};
  }
  const bool small = n <= most_short_blocks * tuning.short_nt * short_tile.vt;
  const int nt = small ? detail::smaller(tuning.short_nt, short_tile.nt) : short_tile.nt;
  return {ceil_div(n, nt * short_tile.vt), nt, false};
}

/// The policy that the caller chose, or else `standard`.
template <class Policy>
constexpr tile_policy policy_or(tile_policy standard) {
  if constexpr (std::is_same_v<Policy, default_policy>) {
    return standard;
  } else {
    return Policy::value;
  }
}

/// Launches a fold in `tiles` tiles of `Policy`. `extent` is the number of items of a range, or the
/// blocks of a piece. `workspace_for(demand)` returns the workspace.
template <class Build, tile_policy Policy, bool Staged, class Length, class Source, class Reducer,
          class Init, class Out, class Extent, class WorkspaceFor>
void launch_tiles_of(const range_job<Source, Reducer, Init, Out>& job, const Extent& extent,
                     std::int64_t tiles, const workspace_demand& demand,
                     const WorkspaceFor& workspace_for) {
  if (tiles > most_tiles) {
    throw invalid_range_error("tilefold: " + std::to_string(job.n) + " items are " +
                              std::to_string(tiles) + " tiles of " + std::to_string(Policy.tile()) +
                              ", more than one launch can cover");
  }
  static known_kernel known;
  const auto kernel = known.on(job.gpu,
                               &tile_kernel<Build, Policy.nt, Policy.vt, Staged, Length, Source,
                                            closed_reducer<Reducer>, Init, Out>,
                               "tile_kernel", Policy.nt, Staged ? starts::in_turn : starts::early);
  const workspace& space = workspace_for(demand);
  const std::int64_t blocks = kernel.most(tiles);
  const tile_shares shares{static_cast<unsigned>(tiles / blocks),
                           static_cast<unsigned>(tiles % blocks)};
  kernel.launch(blocks, job.stream, job.source, job.reducer, job.init, job.out,
                Length{extent, shares}, scratch_in<typename Reducer::accumulator>(space));
}

/// Launches the fold of a range in tiles of `Policy`.
template <class Build, tile_policy Policy, bool Staged = false, class Source, class Reducer,
          class Init, class Out, class WorkspaceFor>
void launch_tiles(const range_job<Source, Reducer, Init, Out>& job,
                  const WorkspaceFor& workspace_for) {
  cuda::launch_tiles_of<Build, Policy, Staged, told_length>(
      job, job.n, tree::num_blocks(job.n, Policy.tile()),
      cuda::demand(Policy, job.n, sizeof(typename Reducer::accumulator)), workspace_for);
}

/// Launches the fold of a range of at most most_short_range_items().
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class WorkspaceFor>
void launch_short(const range_job<Source, Reducer, Init, Out>& job,
                  const WorkspaceFor& workspace_for) {
  using acc = typename Reducer::accumulator;
  using range = one_short_range<Source, acc>;
  static_assert(short_partials<closed_reducer<Reducer>>::most == most_short_blocks);
  static known_kernel known;
  const auto kernel = known.on(
      job.gpu,
      &short_kernel<Build, Policy.nt, Policy.vt, range, closed_reducer<Reducer>, Init, Out>,
      "short_kernel", Policy.nt, starts::in_clusters);
  // Blocks of a cluster exchange values through shared memory.
  const bool clusters = kernel.clusters && sizeof(acc) <= most_shared_bytes;
  const grid_shape grid = cuda::short_shape_for(Policy, job.n, clusters, job.gpu.tuning());
  scratch<acc> memory{};
  if (grid.blocks > 1 && !grid.cluster) {
    memory = scratch_in<acc>(workspace_for(cuda::short_demand(sizeof(acc))));
  }
  kernel.launch(grid, job.stream, range{job.source, static_cast<int>(job.n), memory}, job.reducer,
                job.init, job.out);
}

// Defined in launch_any_order.cuh, exact/launch_exact.cuh and launch_select.cuh, which reducers
// include. Left undefined here, so that a missing include is a compile error.
template <class Reducer>
struct any_order_launch;
template <class Reducer>
struct exact_launch;
template <class Reducer>
struct select_launch;

/// Launches the fold of a range by the kernel of the table above.
template <class Build, class Policy, class Source, class Reducer, class Init, class Out,
          class WorkspaceFor>
void launch_fold(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                 Out out, const device_info& gpu, cudaStream_t stream,
                 const WorkspaceFor& workspace_for) {
  const range_job<Source, Reducer, Init, Out> job{source, {reducer, {0u}}, init, n, out,
                                                  gpu,    stream};
  constexpr int bytes = item_bytes<Source>;
  constexpr int acc_bytes = sizeof(typename Reducer::accumulator);
  constexpr bool is_default = std::is_same_v<Policy, default_policy>;
  constexpr tile_policy tiles = policy_or<Policy>(policy_for(bytes, acc_bytes));
  if constexpr (sums_exactly<Reducer>) {
    exact_launch<Reducer>::template run<Build>(job, workspace_for);
  } else if constexpr (fold_traits<Reducer>::selects) {
    select_launch<Reducer>::template run<Build, Policy>(job, workspace_for);
  } else {
    constexpr tile_policy short_tile =
        short_policy_for(bytes, acc_bytes, fold_traits<Reducer>::folds_in_any_order);
    if constexpr (is_default) {
      if (n <= most_short_range_items(short_tile, acc_bytes)) {
        return cuda::launch_short<Build, short_tile>(job, workspace_for);
      }
    }
    if constexpr (fold_traits<Reducer>::folds_in_any_order) {
      constexpr tile_policy any_order = any_order_launch<Reducer>::template policy<Policy, bytes>;
      if constexpr (is_default) {
        static_assert(2 * any_order.tile() <= most_short_range_items(short_tile, acc_bytes));
      } else if (n < 2 * any_order.tile()) {
        return cuda::launch_tiles<Build, tiles>(job, workspace_for);
      }
      any_order_launch<Reducer>::template run<Build, any_order>(job, workspace_for);
    } else if constexpr (is_default &&
                         (stages_reducer<Source, Reducer> || stages_structs<Source, Reducer>)) {
      constexpr tile_policy staged = staged_shape_of<Source, Reducer>.policy();
      if constexpr (stages_reducer<Source, Reducer>) {
        // Accumulators that blocks do not hand on have no short ranges of several blocks.
        const bool too_few =
            acc_bytes > most_shared_bytes && n < gpu.num_sms * std::int64_t{staged.tile()};
        if (too_few || !cuda::pays_to_stage_range(n, bytes, staged.tile())) {
          constexpr tile_policy unstaged = unstaged_policy_for(bytes, acc_bytes);
          return cuda::launch_tiles<Build, unstaged>(job, workspace_for);
        }
      }
      cuda::launch_tiles<Build, staged, true>(job, workspace_for);
    } else {
      cuda::launch_tiles<Build, tiles>(job, workspace_for);
    }
  }
}

/// Writes one value in the order of a stream.
template <class Build, class T, class Out>
__global__ void store_kernel(T value, Out out) {
  cuda::write(out, value);
}

template <class Build, class T, class Out>
void launch_store(T value, Out out, cudaStream_t stream) {
  ready_kernel<T, Out>{&store_kernel<Build, T, Out>, "store_kernel", 1, 1, false, false}.launch(
      1, stream, value, out);
}

}  // namespace tilefold::detail::cuda
