// SPDX-License-Identifier: Apache-2.0
//
// From a range and a reducer whose order does not matter to one launch. reducer.hpp includes this
// file. Host code.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/cuda/base/closed_reducer.cuh>
#include <tilefold/detail/cuda/base/launcher.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/workspace.cuh>
#include <tilefold/detail/cuda/range/any_order_kernel.cuh>
#include <tilefold/detail/cuda/range/launch_range.cuh>
#include <tilefold/policy.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// A range as a forest of one row, and its output. Both are used as they are: a `+` of theirs,
/// which a range never needed, may be for the host alone.
template <class Source>
struct one_row {
  using source_type = Source;

  Source source;
  std::int64_t length;

  TILEFOLD_HD const Source& tree(std::int64_t) const { return source; }
};
template <class Out>
struct one_output {
  Out out;

  TILEFOLD_HD friend const Out& operator+(const one_output& of, std::int64_t) { return of.out; }
};

template <class Reducer>
struct any_order_launch {
  template <class Policy, int ItemBytes>
  static constexpr tile_policy policy =
      policy_or<Policy>(any_order_policy_for(ItemBytes, kept_bytes<Reducer>()));

  template <class Build, tile_policy Policy, class Forest, class Init, class Out>
  static auto ready(const Forest&, const Init&, const Out&, const device_info& gpu) {
    static known_kernel known;
    return known.on(
        gpu,
        &any_order_kernel<Build, Policy.nt, Policy.vt, Forest, closed_reducer<Reducer>, Init, Out>,
        "any_order_kernel", Policy.nt, starts::in_turn);
  }

  /// Launches the fold in any order of at least two tiles.
  template <class Build, tile_policy Policy, class Source, class Init, class Out,
            class WorkspaceFor>
  static void run(const range_job<Source, Reducer, Init, Out>& job,
                  const WorkspaceFor& workspace_for) {
    using acc = typename Reducer::accumulator;
    const one_output<Out> out{job.out};
    const one_row<Source> range{job.source, job.n};
    const auto kernel = ready<Build, Policy>(range, job.init, out, job.gpu);
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
    kernel.launch(grid_shape{blocks, Policy.nt, false, 1}, job.stream, range, job.reducer, job.init,
                  out, settled, memory);
  }
};

}  // namespace tilefold::detail::cuda
