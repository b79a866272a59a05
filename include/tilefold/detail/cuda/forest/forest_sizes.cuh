// SPDX-License-Identifier: Apache-2.0
//
// How much workspace launches of forests ask for, and how much calls of any size can need, as in
// size_queries.cuh. Host code; needs no GPU, and no kernel.
#pragma once

#include <tilefold/detail/cuda/forest/forest_plan.cuh>
#include <tilefold/detail/cuda/range/size_queries.cuh>

namespace tilefold::detail::cuda {

constexpr std::int64_t queued_partial_bytes(std::int64_t acc_bytes) {
  return align_up(std::int64_t{max_queued_partials} * acc_bytes);
}

/// A forest whose lengths only the GPU knows.
constexpr workspace_demand queue_demand(std::int64_t most_trees, std::int64_t acc_bytes) {
  const std::int64_t trees = detail::smaller(most_trees, max_queued_trees);
  return {queued_partial_bytes(acc_bytes) + trees * static_cast<std::int64_t>(sizeof(long_tree)),
          static_cast<std::int64_t>(sizeof(long_queue<char>::counters)) +
              max_queued_partials * arrival_bytes};
}

/// Slices of `trees` trees of `length` items, or of fewer and shorter ones; 0 if no tree is cut.
constexpr std::int64_t most_equal_slices(std::int64_t trees, std::int64_t length,
                                         std::int64_t tile) {
  if (trees == 0 || length <= tile) return 0;
  const auto of_tree = detail::smaller(tree::num_blocks(length, tile), std::int64_t{max_slices});
  return trees > most_split_slices / of_tree ? most_split_slices : trees * of_tree;
}

/// Trees of one length, cut into so many slices.
constexpr workspace_demand equal_slices_demand(std::int64_t slices, std::int64_t acc_bytes) {
  return {slices * acc_bytes, slices * arrival_bytes};
}

/// What cuda_executor answers (cuda.cuh).
template <class Build>
struct forest_sizes {
  /// Of `trees` trees of unknown lengths, and any of fewer trees.
  static std::int64_t of_any(std::int64_t trees, std::int64_t acc_bytes) {
    const char* const query = "segments_workspace_bytes";
    cuda::require_size(query, "num_segments", trees, 0);
    cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
    cuda::require_answer(query, max_queued_partials, acc_bytes);
    return trees == 0 ? 0 : queue_demand(trees, acc_bytes).bytes();
  }
  /// Of `trees` trees of `length` items or any fewer and shorter ones, under the default policy.
  static std::int64_t of_equal(std::int64_t trees, std::int64_t length, std::int64_t item_bytes,
                               std::int64_t acc_bytes) {
    const char* const query = "equal_segments_workspace_bytes";
    cuda::require_size(query, "num_segments", trees, 0);
    cuda::require_size(query, "segment_size", length, 0);
    cuda::require_size(query, "item_bytes", item_bytes, 1);
    cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
    const std::int64_t slices =
        cuda::most_equal_slices(trees, length, policy_for(cuda::policy_bytes(item_bytes)).tile());
    cuda::require_answer(query, detail::larger(slices, std::int64_t{1}), acc_bytes);
    return cuda::equal_slices_demand(slices, acc_bytes).bytes();
  }
};

}  // namespace tilefold::detail::cuda
