// SPDX-License-Identifier: Apache-2.0
//
// From a piece of several blocks to one launch. Tiles are those that reduce() takes for long
// ranges:
//
//     staged      large accumulators and structs, where there is a tile for every SM
//     packets     all else, of any length
//
// Host code.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include <tilefold/detail/cuda/base/launcher.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/workspace.cuh>
#include <tilefold/detail/cuda/range/launch_range.cuh>
#include <tilefold/detail/cuda/range/piece_folds.cuh>
#include <tilefold/detail/cuda/range/piece_kernel.cuh>
#include <tilefold/detail/cuda/range/piece_sizes.cuh>
#include <tilefold/error.hpp>
#include <tilefold/policy.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// The values of the blocks of a piece, whose items are those of `source`, and where they go.
template <class Source, class Reducer, class Out>
struct piece_job {
  const Source& source;
  closed_reducer<Reducer> reducer;
  tree::aligned_blocks blocks;
  const Out& out;
  const device_info& gpu;
  cudaStream_t stream;
};

/// Launches it in tiles of `Policy`. `workspace_for(demand)` returns the workspace.
template <class Build, tile_policy Policy, bool Staged, class Source, class Reducer, class Out,
          class WorkspaceFor>
void launch_piece_by(const piece_job<Source, Reducer, Out>& job,
                     const WorkspaceFor& workspace_for) {
  using acc = typename Reducer::accumulator;
  constexpr int tile_bits = tree::floor_log2(Policy.tile());
  const std::int64_t n = job.blocks.end - job.blocks.begin;
  const std::int64_t tiles =
      ((job.blocks.end - 1) >> tile_bits) - (job.blocks.begin >> tile_bits) + 1;
  if (tiles > most_tiles) {
    throw invalid_range_error("tilefold: " + std::to_string(n) + " items are " +
                              std::to_string(tiles) + " tiles of " + std::to_string(Policy.tile()) +
                              ", more than one launch can cover");
  }
  static known_kernel known;
  const auto kernel = known.on(
      job.gpu,
      &piece_kernel<Build, Policy.nt, Policy.vt, Staged, Source, closed_reducer<Reducer>, Out>,
      "piece_kernel", Policy.nt, Staged ? starts::in_turn : starts::early);
  const workspace& space = workspace_for(cuda::piece_demand(Policy, n, sizeof(acc)));
  const std::int64_t blocks = kernel.most(tiles);
  const tile_shares shares{static_cast<unsigned>(tiles / blocks),
                           static_cast<unsigned>(tiles % blocks)};
  kernel.launch(blocks, job.stream, job.source, job.reducer, job.out, job.blocks, shares,
                scratch_in<acc>(space));
}

template <class Build, class Policy, class Source, class Reducer, class Out, class WorkspaceFor>
void launch_piece(const Source& source, const Reducer& reducer, const tree::aligned_blocks& blocks,
                  const Out& out, const device_info& gpu, cudaStream_t stream,
                  const WorkspaceFor& workspace_for) {
  const piece_job<Source, Reducer, Out> job{source, {reducer, {0u}}, blocks, out, gpu, stream};
  if constexpr (std::is_same_v<Policy, default_policy>) {
    if constexpr (stages_reducer<Source, Reducer> || stages_structs<Source, Reducer>) {
      constexpr tile_policy staged = staged_shape_of<Source, Reducer>.policy();
      if (blocks.end - blocks.begin >= gpu.num_sms * std::int64_t{staged.tile()}) {
        cuda::launch_piece_by<Build, staged, true>(job, workspace_for);
        return;
      }
    }
    constexpr tile_policy tiles =
        policy_for(item_bytes<Source>, static_cast<int>(sizeof(typename Reducer::accumulator)));
    cuda::launch_piece_by<Build, tiles, false>(job, workspace_for);
  } else {
    cuda::launch_piece_by<Build, Policy::value, false>(job, workspace_for);
  }
}

}  // namespace tilefold::detail::cuda
