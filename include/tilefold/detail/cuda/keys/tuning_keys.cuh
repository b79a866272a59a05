// SPDX-License-Identifier: Apache-2.0
//
// The measured numbers of runs of equal keys (tuning.cuh says on which GPU).
#pragma once

#include <cstddef>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

inline constexpr int by_key_nt = 128;

/// Items whose heads one warp finds, and whose runs one warp folds.
inline constexpr int patch_items = 2048;
inline constexpr int by_key_warps = by_key_nt / 32;
inline constexpr int by_key_tile = by_key_warps * patch_items;
/// Items of a patch that are folded together. Of few patches, a warp takes only so many: more warps
/// fold, but each reads the heads of the whole patch first.
inline constexpr int span_items = 1024;
/// Items of the longest run that a lane folds out of shared memory, and the largest such items.
inline constexpr int short_run_items = 8;
inline constexpr int most_by_key_staged_bytes = 8;
/// Structs of some sizes come through a ring of shared memory (value_ring.cuh), so many bytes for
/// each warp. A lane has a stretch of 128 bytes, or two items: half as many shuffles as with 64.
/// Stretches are whole vectors of 16 bytes.
inline constexpr int by_key_ring_bytes = 8192;
constexpr int ring_stretch_items(int item_bytes) {
  return detail::larger(1 << tree::floor_log2(detail::larger(128 / item_bytes, 1)), 2);
}
/// Other sizes lose: 12 bytes, and 16 that are aligned to less, in runs of most lengths; 28, 40, 56
/// and 72 in runs of two items.
constexpr bool pays_to_fold_from_ring(std::size_t item_bytes, std::size_t alignment,
                                      std::size_t acc_bytes) {
  if (acc_bytes != item_bytes || item_bytes > 128) return false;
  if (item_bytes == 16) return alignment == 16;
  return item_bytes == 20 || item_bytes == 24 || item_bytes % 16 == 0;
}
/// Blocks that an SM shall hold: with the stretches of larger structs more would spill.
constexpr int min_resident_by_key_blocks(std::size_t acc_bytes, bool from_ring) {
  if (from_ring) return acc_bytes > 64 ? 2 : acc_bytes > 32 ? 3 : 4;
  return acc_bytes > 8 ? 5 : 6;
}
/// Bytes of a value at most: a warp has shared memory for one.
inline constexpr int stage_bytes = 4096;
/// A run that does not end within so many items after the patch that it begins in is open.
inline constexpr int reach_items = 1024;
/// Items of an open run at least.
inline constexpr int least_open_items = reach_items + 1;
/// Patches that a warp looks for heads in at most, one after the other.
inline constexpr int most_head_rounds = 4;
/// Patches of a group at least: a block adds up so many counts sooner than two levels meet.
inline constexpr int least_group_patches = 512;

}  // namespace tilefold::detail::cuda
