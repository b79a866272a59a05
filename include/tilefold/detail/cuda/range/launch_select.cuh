// SPDX-License-Identifier: Apache-2.0
//
// From a range and a reducer that keeps the best k elements to one launch. reducers/top_k.hpp
// includes this file. Host code.
#pragma once

#include <cstdint>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/base/launcher.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/range/launch_range.cuh>
#include <tilefold/detail/cuda/range/launch_reducer.cuh>
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
  // No more warps than there are rows for.
  const int nt = job.n < Policy.nt ? threads_for(job.n, 1) : Policy.nt;
  kernel.launch(grid_shape{blocks, nt}, job.stream, job.source, job.reducer,
                elements{job.reducer.of_one(), {0u}}, job.init, job.out, job.n, memory);
}

template <class Reducer>
struct select_launch {
  template <class Build, tile_policy Policy, class Job, class WorkspaceFor>
  static void run(const Job& job, std::int64_t most_blocks, const WorkspaceFor& workspace_for) {
    cuda::launch_select<Build, Policy>(job, most_blocks, workspace_for);
  }
};

}  // namespace tilefold::detail::cuda
