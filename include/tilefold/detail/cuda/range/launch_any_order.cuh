// SPDX-License-Identifier: Apache-2.0
//
// From a range, or rows, and a reducer whose order does not matter to one launch. reducer.hpp
// includes this file. Host code.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/cuda/base/forest_job.cuh>
#include <tilefold/detail/cuda/base/launcher.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/tuning_forests.cuh>
#include <tilefold/detail/cuda/base/workspace.cuh>
#include <tilefold/detail/cuda/range/any_order_kernel.cuh>
#include <tilefold/detail/cuda/range/launch_range.cuh>
#include <tilefold/policy.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// The output of a range as that of one row, of which nothing is asked but a place.
template <class Out>
struct one_output {
  Out out;

  TILEFOLD_HD friend const Out& operator+(const one_output& of, std::int64_t) { return of.out; }
};

template <class Reducer>
struct any_order_launch {
  /// Blocks that share a row at most: as many slices as a row has at most (forest_plan.cuh).
  static constexpr std::int64_t most_row_blocks = 1024;

  /// Rows are folded here if an accumulator fits in a few registers: not exact sums of floats, nor
  /// lists.
  static constexpr bool folds_rows = !sums_exactly<Reducer> && !fold_traits<Reducer>::selects &&
                                     sizeof(typename Reducer::accumulator) <= 32;

  template <class Policy, int ItemBytes>
  static constexpr tile_policy policy =
      policy_or<Policy>(any_order_policy_for(ItemBytes, kept_bytes<Reducer>()));

  template <class Build, tile_policy Policy, class Source, class Init, class Out>
  static auto ready(const device_info& gpu) {
    static known_kernel known;
    return known.on(gpu,
                    &any_order_kernel<Build, Policy.nt, Policy.vt, equal_forest<Source>,
                                      closed_reducer<Reducer>, Init, Out>,
                    "any_order_kernel", Policy.nt, starts::in_turn);
  }

  /// Launches the fold in any order of at least two tiles.
  template <class Build, tile_policy Policy, class Source, class Init, class Out,
            class WorkspaceFor>
  static void run(const range_job<Source, Reducer, Init, Out>& job,
                  const WorkspaceFor& workspace_for) {
    using acc = typename Reducer::accumulator;
    using one_row = std::conditional_t<std::is_pointer_v<Out>, Out, one_output<Out>>;
    const auto kernel = ready<Build, Policy, Source, Init, one_row>(job.gpu);
    // A whole tile for each; loads that are shifted into place take a packet more, at most vt
    // items. And no more blocks than reduce() has tiles by default, for which there is workspace.
    constexpr tile_policy tiles = policy_for(item_bytes<Source>, static_cast<int>(sizeof(acc)));
    const std::int64_t blocks = kernel.most(detail::smaller(
        most_any_order_blocks, detail::smaller((job.n - Policy.vt) / Policy.tile(),
                                               tree::num_blocks(job.n, tiles.tile()))));
    const workspace_demand of_blocks = cuda::partials_demand(Policy, blocks, sizeof(acc));
    const workspace& space = workspace_for(
        Reducer::settles ? cuda::any_order_demand(Policy, blocks, sizeof(acc)) : of_blocks);
    const scratch<acc> memory = scratch_in<acc>(space);
    unsigned* const settled = memory.arrivals + of_blocks.arrival_bytes / arrival_bytes;
    kernel.launch(grid_shape{blocks, Policy.nt, false, 1}, job.stream,
                  equal_forest<Source>{job.source, 1, job.n}, job.reducer, job.init,
                  one_row{job.out}, settled, memory);
  }

  /// Two tiles each; no more than one group of partials, for which there is one counter, and than
  /// slices of the row, for which there is workspace.
  static constexpr std::int64_t most_blocks_of_row(tile_policy tile, std::int64_t length,
                                                   int bytes) {
    const std::int64_t most =
        detail::smaller(length / (2 * tile.tile()), length / policy_for(bytes).tile());
    return detail::smaller(most, detail::smaller(std::int64_t{group_size(tile)}, most_row_blocks));
  }

  /// The blocks of a row by which `resident` blocks at a time have folded all rows first: as many
  /// as fit in up to four turns. A turn takes as long as the tiles of a block, and a tile more.
  static constexpr std::int64_t blocks_of_row(std::int64_t rows, std::int64_t length, int tile,
                                              std::int64_t most_blocks, std::int64_t resident) {
    std::int64_t best = 1;
    std::int64_t least_time = (std::numeric_limits<std::int64_t>::max)();
    for (std::int64_t turns = 1; turns <= 4; ++turns) {
      const std::int64_t fitting = detail::smaller(turns * resident, most_split_slices) / rows;
      const std::int64_t blocks =
          detail::larger(detail::smaller(fitting, most_blocks), std::int64_t{1});
      const std::int64_t tiles = tree::num_blocks(length, tile * blocks);
      const std::int64_t time = tree::num_blocks(rows * blocks, resident) * (tiles + 1);
      if (time < least_time) {
        best = blocks;
        least_time = time;
      }
    }
    return best;
  }

  /// Launches the folds of long rows, if there are enough items for the GPU. False, with nothing
  /// launched, of others.
  template <class Build, class Source, class Init, class Out, class Empty, class WorkspaceFor>
  static bool run_rows(const forest_job<equal_forest<Source>, Reducer, Init, Out, Empty>& job,
                       const WorkspaceFor& workspace_for) {
    using acc = typename Reducer::accumulator;
    constexpr tile_policy tile = policy<default_policy, item_bytes<Source>>;
    const std::int64_t rows = job.forest.num_trees;
    const std::int64_t length = job.forest.length;
    const std::int64_t most_blocks = most_blocks_of_row(tile, length, item_bytes<Source>);
    if (most_blocks < 1 || rows < 1 || rows > most_tiles) return false;
    if (rows * most_blocks < job.gpu.num_sms) return false;
    const auto kernel = ready<Build, tile, Source, Init, Out>(job.gpu);
    const std::int64_t blocks =
        blocks_of_row(rows, length, tile.tile(), most_blocks, kernel.resident);
    if (rows * blocks < job.gpu.num_sms) return false;
    scratch<acc> memory{};
    if (blocks > 1) {
      memory = scratch_in<acc>(workspace_for(workspace_demand{
          rows * blocks * static_cast<std::int64_t>(sizeof(acc)), rows * arrival_bytes}));
    }
    kernel.launch(grid_shape{blocks, tile.nt, false, rows}, job.stream, job.forest, job.reducer,
                  job.init, job.out, nullptr, memory);
    return true;
  }
};

}  // namespace tilefold::detail::cuda
