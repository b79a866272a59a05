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
#include <type_traits>

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/range/launch_range.cuh>
#include <tilefold/detail/cuda/range/piece_folds.cuh>
#include <tilefold/detail/cuda/range/piece_sizes.cuh>
#include <tilefold/detail/cuda/range/piece_tiles.cuh>
#include <tilefold/policy.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// Launches the fold of a piece in tiles of `Policy`.
template <class Build, tile_policy Policy, bool Staged, class Source, class Reducer, class Out,
          class WorkspaceFor>
void launch_piece_by(const range_job<Source, Reducer, unfinished, Out>& job,
                     const tree::aligned_blocks& blocks, const WorkspaceFor& workspace_for) {
  constexpr int tile_bits = tree::floor_log2(Policy.tile());
  cuda::launch_tiles_of<Build, Policy, Staged, piece_length>(
      job, blocks, ((blocks.end - 1) >> tile_bits) - (blocks.begin >> tile_bits) + 1,
      cuda::piece_demand(Policy, job.n, sizeof(typename Reducer::accumulator)), workspace_for);
}

template <class Build, class Policy, class Source, class Reducer, class Out, class WorkspaceFor>
void launch_piece(const Source& source, const Reducer& reducer, const tree::aligned_blocks& blocks,
                  const Out& out, const device_info& gpu, cudaStream_t stream,
                  const WorkspaceFor& workspace_for) {
  const unfinished init{};
  const range_job<Source, Reducer, unfinished, Out> job{
      source, {reducer, {0u}}, init, blocks.end - blocks.begin, out, gpu, stream};
  if constexpr (std::is_same_v<Policy, default_policy> &&
                (stages_reducer<Source, Reducer> || stages_structs<Source, Reducer>)) {
    constexpr tile_policy staged = staged_shape_of<Source, Reducer>.policy();
    if (job.n >= gpu.num_sms * std::int64_t{staged.tile()}) {
      return cuda::launch_piece_by<Build, staged, true>(job, blocks, workspace_for);
    }
  }
  constexpr tile_policy tiles = policy_or<Policy>(
      policy_for(item_bytes<Source>, static_cast<int>(sizeof(typename Reducer::accumulator))));
  cuda::launch_piece_by<Build, tiles, false>(job, blocks, workspace_for);
}

}  // namespace tilefold::detail::cuda
