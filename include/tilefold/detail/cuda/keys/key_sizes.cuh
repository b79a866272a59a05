// SPDX-License-Identifier: Apache-2.0
//
// How much workspace launches of runs of equal keys ask for, and how much calls of any size can
// need, as size_queries.cuh. Host code; needs no GPU, and no kernel.
#pragma once

#include <cstdint>
#include <string>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/base/workspace.cuh>
#include <tilefold/detail/cuda/forest/forest_sizes.cuh>
#include <tilefold/detail/cuda/keys/tuning_keys.cuh>
#include <tilefold/detail/cuda/range/size_queries.cuh>
#include <tilefold/error.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// Items before the first key that patches may begin with, at most.
inline constexpr std::int64_t most_items_to_alignment = 16;

/// Patches of n keys, for any alignment: those of whole blocks.
constexpr std::int64_t most_patches(std::int64_t n) {
  return tree::num_blocks(n + most_items_to_alignment, by_key_tile) * by_key_warps;
}

/// The size of a group of patches: about as many patches in a group as there are groups, and all
/// patches of a block in one group. It does not fall with n.
constexpr int patch_group_bits(std::int64_t n) {
  return detail::larger((tree::ceil_log2(most_patches(n)) + 1) / 2,
                        tree::floor_log2(most_head_rounds * by_key_warps),
                        tree::floor_log2(least_group_patches));
}
/// An upper bound that does not fall with n, so that what is enough for n keys is enough for fewer.
constexpr std::int64_t most_patch_groups(std::int64_t n) {
  return std::int64_t{1} << patch_group_bits(n);
}

// What counts can hold.
inline constexpr std::int64_t most_keyed_items = std::int64_t{1} << 35;
static_assert(std::int64_t{patch_items} << patch_group_bits(most_keyed_items) < std::int64_t{1}
                                                                                    << 31);

inline void require_countable(std::int64_t n) {
  if (n > most_keyed_items) {
    throw invalid_range_error("tilefold::reduce_by_key: " + std::to_string(n) +
                              " items are more than " + std::to_string(most_keyed_items) +
                              ", the most that one call can take on a GPU");
  }
}

/// Runs of n keys that do not end in the reach of their patch.
constexpr std::int64_t most_open_runs(std::int64_t n) {
  // All of the first patch and what is in its reach, wherever it begins.
  if (n <= patch_items + reach_items - most_items_to_alignment) return 0;
  return n / least_open_items;
}

/// The tables of a range of n keys, in 8-byte words.
constexpr std::int64_t run_table_words(std::int64_t n) {
  return most_patches(n) * (warp_size + 1) + 2 * most_patch_groups(n) + 3 * most_open_runs(n) + 1;
}

/// n keys; the tables lie after what the forest of open runs needs.
constexpr workspace_demand by_key_demand(std::int64_t n, std::int64_t acc_bytes) {
  if (most_open_runs(n) == 0) return {0, 0};
  const workspace_demand forest = queue_demand(most_open_runs(n), acc_bytes);
  return {align_up(forest.partial_bytes) + 8 * run_table_words(n),
          forest.arrival_bytes + (most_patch_groups(n) + 1) * arrival_bytes};
}

/// The workspace of a reduce_by_key() of n keys, and any of fewer.
inline std::int64_t keys_workspace_bytes(std::int64_t n, std::int64_t acc_bytes) {
  const char* const query = "by_key_workspace_bytes";
  cuda::require_size(query, "n", n, 0);
  cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
  cuda::require_countable(n);
  cuda::require_answer(query, max_queued_partials, acc_bytes);
  return by_key_demand(n, acc_bytes).bytes();
}

/// What cuda_executor answers (cuda.cuh).
template <class Build>
struct key_sizes {
  static std::int64_t of_keys(std::int64_t n, std::int64_t acc_bytes) {
    return cuda::keys_workspace_bytes(n, acc_bytes);
  }
};

}  // namespace tilefold::detail::cuda
