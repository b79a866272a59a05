// SPDX-License-Identifier: Apache-2.0
//
// How much workspace launches of a piece ask for, and how much pieces of any size can need, as
// size_queries.cuh. Host code; needs no GPU, and no kernel.
#pragma once

#include <cstdint>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/workspace.cuh>
#include <tilefold/detail/cuda/range/size_queries.cuh>
#include <tilefold/policy.hpp>

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

}  // namespace tilefold::detail::cuda
