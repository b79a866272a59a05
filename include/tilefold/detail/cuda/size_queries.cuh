// SPDX-License-Identifier: Apache-2.0
//
// How much workspace calls can need, for any sizes that are asked about. If there is no answer, an
// error names the size. Host code; needs no GPU.
#pragma once

#include <cstdint>
#include <string>

#include <tilefold/detail/cuda/launch.cuh>
#include <tilefold/detail/cuda/launch_by_key.cuh>
#include <tilefold/detail/cuda/launch_forest.cuh>
#include <tilefold/detail/cuda/workspace.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/error.hpp>

namespace tilefold::detail::cuda {

// More than any memory has, and little enough that no sum on the way to it overflows.
inline constexpr std::int64_t most_workspace_bytes = std::int64_t{1} << 56;

inline void require_size(const char* query, const char* what, std::int64_t value,
                         std::int64_t least) {
  if (value < least) {
    throw invalid_range_error("tilefold: " + std::string(query) + ": " + what + " is " +
                              std::to_string(value) + ", less than " + std::to_string(least));
  }
}

/// Throws unless `count` partials of `acc_bytes` bytes are few enough for an answer.
inline void require_answer(const char* query, std::int64_t count, std::int64_t acc_bytes) {
  if (count > most_workspace_bytes / acc_bytes) {
    throw invalid_range_error("tilefold: " + std::string(query) + ": " + std::to_string(count) +
                              " partial results with accumulators of " + std::to_string(acc_bytes) +
                              " bytes fit no memory");
  }
}

/// Of a fold of n items, and any of fewer, under the default policy.
inline std::int64_t fold_workspace_bytes(std::int64_t n, std::int64_t item_bytes,
                                         std::int64_t acc_bytes) {
  const char* const query = "workspace_bytes";
  cuda::require_size(query, "n", n, 0);
  cuda::require_size(query, "item_bytes", item_bytes, 1);
  cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
  const int bytes = cuda::policy_bytes(item_bytes);
  const tile_policy tiles = policy_for(bytes, cuda::policy_bytes(acc_bytes));
  cuda::require_answer(query, detail::larger(tree::num_blocks(n, tiles.tile()), most_short_blocks),
                       acc_bytes);
  return n == 0 ? 0 : default_workspace_bytes(n, bytes, acc_bytes);
}

/// Of a forest of `trees` trees whose lengths only the GPU knows, and any of fewer.
inline std::int64_t forest_workspace_bytes(std::int64_t trees, std::int64_t acc_bytes) {
  const char* const query = "segments_workspace_bytes";
  cuda::require_size(query, "num_segments", trees, 0);
  cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
  cuda::require_answer(query, max_queued_slots, acc_bytes);
  return trees == 0 ? 0 : queue_demand(trees, acc_bytes).bytes();
}

/// Of `trees` trees of `length` items each, and any of fewer and of shorter ones, under the default
/// policy.
inline std::int64_t equal_workspace_bytes(std::int64_t trees, std::int64_t length,
                                          std::int64_t item_bytes, std::int64_t acc_bytes) {
  const char* const query = "equal_segments_workspace_bytes";
  cuda::require_size(query, "num_segments", trees, 0);
  cuda::require_size(query, "segment_size", length, 0);
  cuda::require_size(query, "item_bytes", item_bytes, 1);
  cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
  const std::int64_t units =
      cuda::most_equal_units(trees, length, policy_for(cuda::policy_bytes(item_bytes)).tile());
  cuda::require_answer(query, detail::larger(units, std::int64_t{1}), acc_bytes);
  return cuda::equal_units_demand(units, acc_bytes).bytes();
}

/// Of a reduce_by_key() of n keys, and any of fewer.
inline std::int64_t keys_workspace_bytes(std::int64_t n, std::int64_t acc_bytes) {
  const char* const query = "by_key_workspace_bytes";
  cuda::require_size(query, "n", n, 0);
  cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
  cuda::require_countable(n);
  cuda::require_answer(query, max_queued_slots, acc_bytes);
  return by_key_demand(n, acc_bytes).bytes();
}

}  // namespace tilefold::detail::cuda
