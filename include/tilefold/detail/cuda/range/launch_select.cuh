// SPDX-License-Identifier: Apache-2.0
//
// From a range and a reducer that keeps the best k elements to one launch. reducers/top_k.hpp
// includes this file. Host code.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/base/launcher.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/range/launch_range.cuh>
#include <tilefold/detail/cuda/range/select_kernel.cuh>
#include <tilefold/policy.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// Launches the fold of a range by lists, in at most `most_blocks` blocks.
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class WorkspaceFor>
void launch_select(const range_job<Source, Reducer, Init, Out>& job, std::int64_t most_blocks,
                   const WorkspaceFor& workspace_for) {
  using acc = typename Reducer::accumulator;
  using elements = closed_reducer<decltype(job.reducer.of_one())>;
  static known_kernel known;
  const auto kernel = known.on(job.gpu,
                               &select_kernel<Build, Policy.nt, Policy.vt, Source,
                                              closed_reducer<Reducer>, elements, Init, Out>,
                               "select_kernel", Policy.nt, starts::early);
  const std::int64_t blocks =
      kernel.most(detail::smaller(most_blocks, tree::num_blocks(job.n, Policy.tile())));
  scratch<acc> memory{};
  if (blocks > 1) {
    memory = scratch_in<acc>(
        workspace_for({blocks * static_cast<std::int64_t>(sizeof(acc)), arrival_bytes}));
  }
  // No more warps than there are stripes for.
  const int nt = job.n < Policy.nt ? threads_for(job.n, 1) : Policy.nt;
  kernel.launch(grid_shape{blocks, nt}, job.stream, job.source, job.reducer,
                elements{job.reducer.of_one(), {0u}}, job.init, job.out, job.n, memory);
}

template <class Reducer>
struct select_launch {
  template <class Build, class Policy, class Source, class Init, class Out, class WorkspaceFor>
  static void run(const range_job<Source, Reducer, Init, Out>& job,
                  const WorkspaceFor& workspace_for) {
    constexpr int bytes = item_bytes<Source>;
    if constexpr (std::is_same_v<Policy, default_policy>) {
      constexpr tile_policy tiles = policy_for(bytes, sizeof(typename Reducer::accumulator));
      // No more blocks than there is workspace for by default.
      const std::int64_t most =
          job.n <= short_policy_for(bytes).tile()
              ? 1
              : detail::smaller(most_short_blocks, tree::num_blocks(job.n, tiles.tile()));
      cuda::launch_select<Build, select_policy_for(bytes)>(job, most, workspace_for);
    } else {
      constexpr tile_policy policy{Policy::value.nt, detail::smaller(Policy::value.vt, 64)};
      cuda::launch_select<Build, policy>(job, job.n, workspace_for);
    }
  }
};

}  // namespace tilefold::detail::cuda
