// SPDX-License-Identifier: Apache-2.0
//
// The measured numbers of forests (tuning.cuh says on which GPU).
#pragma once

#include <tilefold/detail/cuda/base/tuning.cuh>

namespace tilefold::detail::cuda {

// Rows as short ranges.

/// Rows of one launch: as many as a grid has blocks.
inline constexpr std::int64_t most_short_rows = (std::int64_t{1} << 31) - 1;
/// Rows with larger accumulators are staged (staged_stripes.cuh).
inline constexpr int most_short_row_acc_bytes = 16;

/// Rows of `items` items, each by `blocks` blocks of `nt` threads with `vt` items a thread.
struct short_rows {
  std::int64_t rows;
  std::int64_t items;
  std::int64_t blocks;
  int nt;
  int vt;

  constexpr std::int64_t all_blocks() const { return rows * blocks; }
  /// Whether four fifths of the threads of a row have items.
  constexpr bool is_full() const { return 5 * items >= 4 * blocks * nt * vt; }
};

/// Whether rows of one length are folded faster as short ranges, a block or a cluster each, than by
/// the kernels of forests. Many rows of few bytes are not: a block takes as long to begin as to
/// fold, and a warp takes several rows. Rows of few items are not: most lanes of a block have none.
/// Nor are rows of which there is one for every warp, where threads of a cluster have no items. An
/// SM holds few blocks of 512 threads and more, so of many rows these must be full.
constexpr bool pays_as_short_rows(const short_rows& of, int item_bytes, int num_sms,
                                  const launch_tuning& tuning) {
  const std::int64_t bytes = of.items * item_bytes;
  if (of.items < 32) return of.rows <= 512;
  if (bytes <= 4096) return of.rows <= (bytes > 1024 ? 1024 : 512);
  const bool for_warps =
      of.rows >= tuning.many_trees && of.items <= tuning.longest_for_warp(of.rows);
  if (for_warps && of.blocks > 1 && item_bytes >= 4 && !of.is_full()) return false;
  if (of.nt <= (of.blocks == 1 ? 512 : 256) || of.all_blocks() <= num_sms) return true;
  if (of.nt <= 512 && (of.is_full() || item_bytes >= 4)) return true;
  return of.is_full() && of.all_blocks() <= std::int64_t{item_bytes >= 8 ? 8 : 16} * num_sms;
}

/// Whether rows of one length are folded faster as short ranges, with accumulators of 9 to 16
/// bytes. Rows of small items are not, where a row is a block of 512 threads and there are too few
/// blocks to fill the GPU: lanes' stretches and staged stripes are faster. With clusters of blocks
/// of 1024 threads logsumexp is slower.
constexpr bool pays_as_short_rows_of_pairs(const short_rows& of, int item_bytes, int acc_bytes,
                                           int num_sms) {
  if (of.nt > 512) return of.rows == 1 && of.blocks == 1;
  if (of.rows == 1) return true;
  const bool reduces = acc_bytes >= 2 * item_bytes;
  if (of.items * item_bytes <= 4096) return of.rows <= (reduces ? 640 : 256);
  if (reduces && of.blocks == 1) {
    return of.nt < 512 || (of.rows >= num_sms && of.rows <= std::int64_t{32} * num_sms);
  }
  return of.rows <= 256 || (reduces && of.nt <= 256 && of.rows <= 1024);
}

// Trees.

/// Trees of structs that are all of one length are levels of one staged tree if each has so many
/// bytes: shorter ones have too many results a stripe. Structs up to 32 bytes would gain 1 to 2%.
inline constexpr std::int64_t least_staged_struct_tree_bytes = 768;
inline constexpr int most_unstaged_subtree_item_bytes = 32;

/// Items of a lane's stretch: 64 bytes, so that the 32 lanes of a warp keep the memory busy; but at
/// most 16 items, for while a lane folds its stretch, the tree's other lanes wait.
constexpr int stretch_items_for(int item_bytes) {
  return detail::bounded(1 << tree::floor_log2(64 / detail::smaller(item_bytes, 64)), 1, 16);
}

/// Items of a lane's stretch in exact sums, which cost most between lanes: of doubles 128 bytes.
constexpr int exact_stretch_items_for(int item_bytes) {
  return item_bytes == 8 ? 16 : stretch_items_for(item_bytes);
}

/// Whether lanes fold long stretches by themselves, one packet after the other: accumulators that
/// are large, and larger than the items, cost more between lanes than the items' loads.
constexpr bool pays_to_fold_stretches(int item_bytes, std::size_t acc_bytes) {
  return acc_bytes > 16 && acc_bytes >= static_cast<std::size_t>(2 * item_bytes) &&
         stretch_items_for(item_bytes) >= 8;
}

/// Whether a warp reads long trees by lanes' stretches: of smaller items a lane would take too long
/// over its stretch, of larger ones a stretch has too few.
inline constexpr int least_stretch_item_bytes = 4;
inline constexpr int least_loaded_stretch = 8;

/// Trees that are dealt to lanes: threads of a block, and blocks that an SM shall hold at least.
inline constexpr int lanes_nt = 128;
constexpr int min_resident_lanes_blocks(std::size_t acc_bytes) {
  return acc_bytes <= 8 ? 8 : acc_bytes <= 32 ? 5 : 4;
}

/// Neighbouring trees that a warp takes at a time: so few that no batch is the last for long.
inline constexpr int batches_of_warp = 8;
inline constexpr std::int64_t most_batch_trees = 4096;

/// Items of a tree that one lane folds whole, at most: a power of two (lane_tree.cuh). A lane has a
/// word for each item, so with more of them an SM holds fewer blocks.
inline constexpr int short_tree_items = 16;
/// Blocks of short_trees_kernel that an SM shall hold.
inline constexpr int min_resident_short_trees_blocks = 10;
/// A forest has short trees if their mean length is at most most_short_mean items in
/// least_short_places of 32 places. With fewer than least_short_trees trees, the launch that
/// samples their lengths costs more than it gains.
inline constexpr int most_short_mean = 14;
inline constexpr int least_short_places = 17;
inline constexpr std::int64_t least_short_trees = std::int64_t{1} << 20;
inline constexpr std::int64_t most_short_trees = std::int64_t{1} << 30;

/// Whether lanes fold whole short trees faster than by stretches.
constexpr bool pays_to_fold_short_trees(int item_bytes, std::size_t acc_bytes) {
  return item_bytes == 4 && acc_bytes == 4;
}

/// Trees by warps. So few on an SM that the next stripe of stretches stays in registers.
inline constexpr int warps_nt = 128;
constexpr int min_resident_warps(bool loads_stretches, std::size_t acc_bytes) {
  if (acc_bytes > 64) return 12;  // with more they spill
  return acc_bytes > 8 ? 16 : loads_stretches ? 24 : 32;
}

/// Larger structs are not staged where a stripe is cut: the rest takes too many registers.
inline constexpr int most_cut_struct_bytes = 64;

/// Warps that an SM shall hold where blocks fold slices of structs: with more, they spill.
constexpr int min_resident_struct_warps(std::size_t acc_bytes) { return acc_bytes >= 64 ? 8 : 12; }

/// Trees of 2^k items as levels of one tree: threads of a block, and blocks that an SM shall hold.
inline constexpr int subtree_nt = 256;
constexpr int min_resident_subtree_blocks(std::size_t acc_bytes) { return acc_bytes > 8 ? 2 : 3; }
/// Tiles of items in a chunk. With two, the kernel of exponentials of halves took half a minute to
/// assemble, and few trees left most warps idle: 1000 of 16 took 5 times as long. (65536 trees of
/// 64, which fill the GPU either way, took 14% less.)
constexpr int chunk_tiles(int item_bytes, bool lifts_packets) {
  return lifts_packets && item_bytes <= 2 ? 1 : 2;
}

/// Whether two chunks of items leave registers for the rest.
constexpr bool pays_to_load_chunks_ahead(std::size_t acc_bytes, int width) {
  return acc_bytes <= 4 && width > 1;
}

/// Trees that one launch folds: so few that every block can look at all of them. Larger
/// accumulators leave no shared memory for the plan.
inline constexpr std::int64_t most_one_launch_trees = 1024;
inline constexpr std::size_t most_one_launch_acc_bytes = 512;
/// Slices that one of its blocks gets, if there is enough work.
inline constexpr std::int64_t slices_per_one_launch_block = 4;

/// Bytes of the largest accumulators with which one tree of a deferred length is folded in tiles.
inline constexpr std::size_t most_deferred_range_acc_bytes = 16;

/// Partials for the values of slices, and places for long trees. A tree that finds no partials is
/// folded by one block, and a tree that finds no place by one warp.
inline constexpr unsigned max_queued_partials = 16384;
inline constexpr std::int64_t max_queued_trees = 65536;

/// Counters of the turns in which warps take trees: so many that warps rarely meet at one, 64 bytes
/// apart. And how many turns a warp takes, if all take as many.
inline constexpr unsigned num_turn_counters = 16;
inline constexpr unsigned turn_counter_words = 16;
inline constexpr std::int64_t turns_of_warp = 32;

/// Slices that trees of one length are cut into at most: over four times any GPU's blocks.
inline constexpr std::int64_t most_split_slices = 16384;

}  // namespace tilefold::detail::cuda
