// SPDX-License-Identifier: Apache-2.0
//
// From a piece of several blocks to one launch. Tiles are those that reduce() takes for long
// ranges:
//
//     staged      large accumulators and structs, where there is a tile for every SM
//     packets     all else, of any length
#pragma once

#include <tilefold/detail/cuda/range/launch_range.cuh>
#include <tilefold/detail/cuda/range/piece_folds.cuh>
#include <tilefold/detail/cuda/range/piece_tiles.cuh>
#include <tilefold/detail/cuda/range/size_queries.cuh>

namespace tilefold::detail::cuda {

/// A piece of n items in tiles of a policy, wherever it stands: nodes of all levels that can lie in
/// it, and counters of their groups, of which two may be cut.
constexpr workspace_demand piece_demand(tile_policy policy, std::int64_t n,
                                        std::int64_t acc_bytes) {
  workspace_demand all{0, 0};
  for (std::int64_t count = n / policy.tile(); count > 0; count /= group_size(policy)) {
    all.partial_bytes += count * acc_bytes;
    all.arrival_bytes += (count / group_size(policy) + 2) * arrival_bytes;
  }
  return all;
}

/// Bytes for a piece of n items or fewer under the default policy, wherever it stands.
constexpr std::int64_t default_piece_bytes(std::int64_t n, int item_bytes, std::int64_t acc_bytes) {
  const tile_policy tiles = policy_for(item_bytes, cuda::policy_bytes(acc_bytes));
  const std::int64_t most = detail::larger(cuda::default_workspace_bytes(n, item_bytes, acc_bytes),
                                           piece_demand(tiles, n, acc_bytes).bytes());
  if (!pays_to_stage(item_bytes, acc_bytes)) return most;
  const tile_policy staged = staged_shape_for(item_bytes, acc_bytes).policy();
  return detail::larger(most, piece_demand(staged, n, acc_bytes).bytes());
}

/// What cuda_executor answers (cuda.cuh): of a piece, wherever it stands.
template <class Build>
struct piece_sizes {
  static std::int64_t of_piece(std::int64_t n, std::int64_t item_bytes, std::int64_t acc_bytes) {
    cuda::require_fold("piece_workspace_bytes", n, item_bytes, acc_bytes);
    return n == 0 ? 0 : default_piece_bytes(n, cuda::policy_bytes(item_bytes), acc_bytes);
  }
};

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
