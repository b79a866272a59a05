// SPDX-License-Identifier: Apache-2.0
//
// How much workspace calls can need, for any sizes that are asked about. If there is no answer, an
// error names the size. Those of forests and of keys stand with their launches. Host code; needs no
// GPU.
#pragma once

#include <cstdint>
#include <string>

#include <tilefold/detail/cuda/launch.cuh>
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

}  // namespace tilefold::detail::cuda
