// SPDX-License-Identifier: Apache-2.0
//
// How much workspace launches of one range ask for, and how much calls of any size can need
// (forest_sizes.cuh, launch_keys.cuh: of many segments, of runs of equal keys). The answers hold
// for every GPU: they depend on tile shapes and on bounds (base/tuning.cuh), not on what one GPU
// holds or on the way that it takes. Host code; needs no GPU, and no kernel.
#pragma once

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/workspace.cuh>

namespace tilefold::detail::cuda {

inline constexpr std::int64_t arrival_bytes = sizeof(unsigned);

/// `count` partials under a policy, in groups of groups.
constexpr workspace_demand partials_demand(tile_policy policy, std::int64_t count,
                                           std::int64_t acc_bytes) {
  const scratch_size size = cuda::scratch_for(count, group_size(policy));
  return {size.partials * acc_bytes, size.arrivals * arrival_bytes};
}

/// n items in tiles of a policy.
constexpr workspace_demand demand(tile_policy policy, std::int64_t n, std::int64_t acc_bytes) {
  return cuda::partials_demand(policy, tree::num_blocks(n, policy.tile()), acc_bytes);
}

/// A short range, by several blocks that are no cluster.
constexpr workspace_demand short_demand(std::int64_t acc_bytes) {
  return {most_short_blocks * acc_bytes, arrival_bytes};
}

/// A range in any order by up to `blocks` blocks, and the flag behind their counters.
constexpr workspace_demand any_order_demand(tile_policy policy, std::int64_t blocks,
                                            std::int64_t acc_bytes) {
  const workspace_demand of_blocks = cuda::partials_demand(policy, blocks, acc_bytes);
  return {detail::larger(of_blocks.partial_bytes, acc_bytes),
          of_blocks.arrival_bytes + arrival_bytes};
}

/// An exact sum, by several blocks.
constexpr workspace_demand exact_demand() { return {1, exact_sums_bytes}; }

/// Bytes for n items or fewer under the default policy, whatever the reducer.
constexpr std::int64_t default_workspace_bytes(std::int64_t n, int item_bytes,
                                               std::int64_t acc_bytes) {
  // The smallest short tile of any reducer with such accumulators, and the longest short range.
  const tile_policy short_tile = short_policy_for(item_bytes, cuda::policy_bytes(acc_bytes), true);
  const std::int64_t most_short = most_short_range_items(short_policy_for(item_bytes), acc_bytes);
  const bool fits_block = detail::smaller(n, most_short) <= short_tile.tile();
  const bool may_be_exact = acc_bytes >= least_exact_acc_bytes && n > least_exact_tile;
  const std::int64_t of_short =
      detail::larger(fits_block ? 0 : short_demand(acc_bytes).bytes(),
                     may_be_exact ? cuda::exact_demand().bytes() : std::int64_t{0});
  if (n <= most_short_range_items(short_tile, acc_bytes)) return of_short;
  const tile_policy tiles = policy_for(item_bytes, cuda::policy_bytes(acc_bytes));
  const std::int64_t of_tiles = demand(tiles, n, acc_bytes).bytes();
  // No more blocks than tiles, but perhaps in smaller groups.
  const tile_policy any_order =
      any_order_policy_for(item_bytes, static_cast<std::size_t>(acc_bytes));
  const std::int64_t of_any_order =
      any_order_demand(any_order,
                       detail::smaller(tree::num_blocks(n, tiles.tile()), most_any_order_blocks),
                       acc_bytes)
          .bytes();
  const std::int64_t most = detail::larger(of_short, of_tiles, of_any_order);
  if (!pays_to_stage(item_bytes, acc_bytes)) return most;
  const tile_policy staged = staged_shape_for(item_bytes, acc_bytes).policy();
  const tile_policy unstaged = unstaged_policy_for(item_bytes, cuda::policy_bytes(acc_bytes));
  const std::int64_t most_unstaged =
      detail::larger(least_staged_bytes / item_bytes, std::int64_t{1} << 22);
  return detail::larger(most, demand(staged, n, acc_bytes).bytes(),
                        demand(unstaged, detail::smaller(n, most_unstaged), acc_bytes).bytes());
}

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

/// Throws unless there is an answer for a fold of n items, or for a piece of them.
inline void require_fold(const char* query, std::int64_t n, std::int64_t item_bytes,
                         std::int64_t acc_bytes) {
  cuda::require_size(query, "n", n, 0);
  cuda::require_size(query, "item_bytes", item_bytes, 1);
  cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
  const int bytes = cuda::policy_bytes(item_bytes);
  const tile_policy tiles = policy_for(bytes, cuda::policy_bytes(acc_bytes));
  cuda::require_answer(query, detail::larger(tree::num_blocks(n, tiles.tile()), most_short_blocks),
                       acc_bytes);
}

/// The workspace of a fold of n items, and any of fewer, under the default policy.
inline std::int64_t fold_workspace_bytes(std::int64_t n, std::int64_t item_bytes,
                                         std::int64_t acc_bytes) {
  cuda::require_fold("workspace_bytes", n, item_bytes, acc_bytes);
  return n == 0 ? 0 : default_workspace_bytes(n, cuda::policy_bytes(item_bytes), acc_bytes);
}

}  // namespace tilefold::detail::cuda
