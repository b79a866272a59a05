// SPDX-License-Identifier: Apache-2.0
//
// Every number that measuring has found: threads of a block (nt), items of a thread (vt), blocks
// that an SM shall hold, and sizes at which one way is left for another. They decide speed and
// nothing else. All were measured on one NVIDIA H200 (compute capability 9.0, 132 SMs; driver
// 580.159, CUDA 13.0), but those of short rows, of rows whose items go out again and of lanes with
// accumulators of 9 to 32 bytes, on
// one H100. docs/notes/tuning.md has the figures, and what was tried and lost.
//
//     who asks                            what it asks
//     a type, a launch bound, a kernel    a constant, or a function of sizes: the same for all
//                                         GPUs, since a template means one thing in a program
//     host code, at a launch              tuning_of(compute capability)
//     a size query                        most_...: bounds for all GPUs, since a query needs none
//
// To tune for another GPU: what a launch decides goes into a table of that GPU's own, at the end of
// this file. Another tile shape is another kernel: compile both, and let the launch choose by the
// compute capability.
// Numbers that follow from a kernel's structure (lanes of a warp, bits of a word) stand in the
// kernel's file.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tilefold/config.hpp>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/policy.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

constexpr int floor_power_of_two(int x) { return x < 1 ? 1 : 1 << tree::floor_log2(x); }

/// `blocks`, or as many as an SM holds of `nt` threads each: 1024 threads before 8.0, 1536 at least
/// from there on.
constexpr int blocks_that_fit(int blocks, int nt) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return detail::smaller(blocks, 1024 / nt);
#else
  return detail::smaller(blocks, 1536 / nt);
#endif
}

// Tiles of one range.

/// The policy for items of `bytes` bytes: 64 bytes in flight per thread at 1024 threads per SM hide
/// the memory's latency, and a tile of 32 KiB makes the work between tiles small. Structs that are
/// folded as they are have accumulators of `acc_bytes` > 8, as large as the items: shuffling them
/// takes time that only more bytes in flight cover.
constexpr tile_policy policy_for(int bytes, int acc_bytes = 4) {
  if (bytes > 8 && bytes <= 12) return {512, 8};
  if (bytes > 8 && bytes <= 64 && acc_bytes > 8 && acc_bytes <= bytes) {
    if (bytes <= 16) return {512, 16};
    return bytes <= 32 ? tile_policy{1024, 4} : tile_policy{512, 8};
  }
  // Accumulators of more than 16 bytes want more registers than 512 threads leave them.
  if (bytes > 16) return {128, detail::bounded(floor_power_of_two(512 / bytes), 1, 16)};
  return {512, detail::bounded(floor_power_of_two(64 / bytes), 1, 64)};
}

/// The size of an item or accumulator, as policies use it: above this limit all sizes have the same
/// policy.
constexpr int policy_bytes(std::int64_t bytes) {
  return static_cast<int>(detail::smaller(bytes, std::int64_t{65536}));
}

/// Blocks that one SM shall hold at least: 1024 threads with 64 bytes each in flight are what hides
/// the memory's latency. Large accumulators need the registers themselves.
constexpr int min_resident_blocks(int nt, std::size_t acc_bytes) {
  return acc_bytes > 8 ? 1 : 1024 / nt;
}

/// A packet bigger than this costs more registers than its loads are worth.
inline constexpr int max_packet_bytes = 64;

/// The largest items that an adaptor's function is given out of packets: of larger ones it may want
/// only a part, and the rest need not be read.
inline constexpr int most_adapted_bytes = 32;

/// Rows that a lane has in registers together: `most_rows`, and their bytes.
inline constexpr int most_rows = 16;
inline constexpr int row_bytes_budget = 128;

/// Whether a thread has the registers for a second tile's items, `loaded_bytes` of them in packets
/// of `width`. 8-byte accumulators spill, larger ones spill if they come of items as large.
constexpr bool pays_to_load_ahead(std::size_t loaded_bytes, std::size_t acc_bytes, int width) {
  return loaded_bytes <= 80 && (acc_bytes <= 4 || (acc_bytes > 8 && acc_bytes <= 24 && width >= 4));
}

/// Partials that a thread folds when its block is the last of a group.
inline constexpr int group_vt = 4;
/// Partials per group.
TILEFOLD_HD constexpr int group_size(tile_policy policy) { return policy.nt * group_vt; }

// Short ranges.

/// The largest tile of short ranges; blocks may have fewer threads and so smaller tiles.
constexpr tile_policy short_policy_for(int bytes) {
  if (bytes > 16) return {256, policy_for(bytes).vt};
  return {1024, detail::bounded(floor_power_of_two(64 / bytes), 1, 64)};
}

/// Blocks that share a short range at most: a warp folds their values, eight a lane.
inline constexpr std::int64_t most_short_blocks = 256;
/// Blocks of all threads for the longest short ranges: about one for every SM of a large GPU.
inline constexpr std::int64_t most_whole_blocks = 128;

/// Larger accumulators are not handed on in short ranges: there, one block folds them alone.
inline constexpr int most_shared_bytes = 32;

/// Items that count as a short range.
constexpr std::int64_t most_short_items(tile_policy short_tile, std::int64_t acc_bytes) {
  return short_tile.tile() * (acc_bytes > most_shared_bytes ? 1 : most_whole_blocks);
}

// Rows as short ranges.

/// As many as the grid has.
inline constexpr std::int64_t most_short_rows = (std::int64_t{1} << 31) - 1;
/// Of larger accumulators rows are staged (staged_rows.cuh).
inline constexpr int most_short_row_acc_bytes = 16;

/// Rows of `items` each, in `blocks` blocks of `nt` threads, of `vt` items.
struct short_rows {
  std::int64_t rows;
  std::int64_t items;
  std::int64_t blocks;
  int nt;
  int vt;

  constexpr std::int64_t all_blocks() const { return rows * blocks; }
  /// Whether the threads of a row have items for the most part.
  constexpr bool is_full() const { return 5 * items >= 4 * blocks * nt * vt; }
};

/// Whether rows of one length are better short ranges, a block or a cluster each, than folded by
/// the kernels of forests. Of many rows of few bytes, a warp takes several there, where a block
/// takes as long to begin as to fold; of few items, most lanes of a block have none. Of blocks of
/// 512 threads and more an SM holds few: of many rows, these must be full.
constexpr bool pays_as_short_rows(const short_rows& of, int item_bytes, int num_sms) {
  const std::int64_t bytes = of.items * item_bytes;
  if (of.items < 32) return of.rows <= 512;
  if (bytes <= 4096) return of.rows <= (bytes > 1024 ? 1024 : 512);
  if (of.nt <= (of.blocks == 1 ? 512 : 256) || of.all_blocks() <= num_sms) return true;
  if (of.nt <= 512 && (of.is_full() || item_bytes >= 4)) return true;
  return of.is_full() && of.all_blocks() <= std::int64_t{item_bytes >= 8 ? 8 : 16} * num_sms;
}

/// The same with accumulators of 9 to 16 bytes. Those of smaller items are folded faster by lanes'
/// stretches and staged rows, if a row is a block of 512 threads and the GPU is not full of them.
/// With clusters of blocks of 1024, logsumexp loses.
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

// Staged tiles.

/// How a tile is staged: threads of a block, items of a lane's run, runs that a lane has of a tile,
/// and blocks that an SM shall hold. A block has 32 KiB of shared memory for what is on its way.
struct staged_shape {
  int nt;
  int run;
  int rows;
  int blocks;

  constexpr tile_policy policy() const { return {nt, run * rows}; }
};

/// Whether accumulators of `acc_bytes` bytes are large, and several times their items.
constexpr bool pays_to_stage_reducer(int item_bytes, std::int64_t acc_bytes) {
  return acc_bytes >= 16 && acc_bytes <= 512 && acc_bytes >= 2 * item_bytes && item_bytes <= 16;
}

/// A run is what fits 32 banks: each thread has 128 registers, and with fewer the fold of whole
/// tiles would spill.
constexpr staged_shape staged_reducer_shape(int item_bytes) {
  return {128, 1 << tree::floor_log2(detail::bounded(128 / item_bytes, 1, 32)), 4, 4};
}

/// A run of structs is of whole 16 bytes, `bytes` if it can be, and 0 where it would have more than
/// `most`, which is too long for shared memory.
constexpr int run_of_structs(int item_bytes, int bytes, int most) {
  int run = 1 << tree::floor_log2(detail::bounded(bytes / item_bytes, 1, 32));
  while (run * item_bytes % 16 != 0) run *= 2;
  return run * item_bytes > most ? 0 : run;
}

/// Larger structs want more registers and a longer run, so fewer threads.
constexpr staged_shape staged_structs_shape(int item_bytes) {
  return item_bytes > 64 ? staged_shape{64, cuda::run_of_structs(item_bytes, 256, 352), 2, 6}
                         : staged_shape{128, cuda::run_of_structs(item_bytes, 128, 176), 4, 3};
}

/// Whether items are structs that a lane better folds a few of before any goes to another lane.
constexpr bool pays_to_stage_structs(int item_bytes, std::int64_t acc_bytes) {
  return acc_bytes == item_bytes && item_bytes % 4 == 0 && item_bytes >= 12 && item_bytes != 16 &&
         item_bytes <= 128 && staged_structs_shape(item_bytes).run > 0;
}

/// Whether a warp stages its trees of structs, and a run of theirs: rows of 4 KiB or so, so that
/// four blocks of an SM have two for each warp.
constexpr int tree_run_of_structs(int item_bytes) {
  return cuda::run_of_structs(item_bytes, 128, 160);
}
constexpr bool pays_to_stage_trees_of_structs(int item_bytes, std::int64_t acc_bytes) {
  return acc_bytes == item_bytes && item_bytes % 4 == 0 && item_bytes >= 12 && item_bytes <= 128 &&
         cuda::tree_run_of_structs(item_bytes) > 0;
}

/// Trees of structs that are all of one length are levels of one staged tree if each has so many
/// bytes: shorter ones have too many results a row. Structs up to 32 bytes would gain 1 to 2%.
inline constexpr std::int64_t least_staged_struct_tree_bytes = 768;
inline constexpr int most_unstaged_subtree_item_bytes = 32;

constexpr staged_shape staged_shape_for(int item_bytes, std::int64_t acc_bytes) {
  return pays_to_stage_structs(item_bytes, acc_bytes) ? staged_structs_shape(item_bytes)
                                                      : staged_reducer_shape(item_bytes);
}

/// Whether a fold in the fixed order may be staged.
constexpr bool pays_to_stage(int item_bytes, std::int64_t acc_bytes) {
  return pays_to_stage_reducer(item_bytes, acc_bytes) ||
         pays_to_stage_structs(item_bytes, acc_bytes);
}

/// Rows of which the code stands side by side: all of a tile's code must fit the instruction cache.
constexpr int staged_rows_unrolled(std::size_t acc_bytes) { return acc_bytes <= 32 ? 2 : 1; }

/// Items that a lane folds before it joins their node to others.
constexpr int staged_packet(bool long_combine) { return long_combine ? 8 : 16; }

// Any order, and lists.

/// Bytes of an accumulator that a thread keeps. Those that hold places of numbers count as less:
/// they are hardly ever touched.
constexpr std::size_t kept_bytes_for(std::size_t acc_bytes, bool finds_places) {
  return finds_places && acc_bytes <= 32 ? 16 : acc_bytes;
}

/// The policy of any_order_kernel.cuh: large accumulators leave room for half as many threads,
/// which then have twice as much in flight. What is longer than a short tile has two tiles at
/// least.
constexpr tile_policy any_order_policy_for(int bytes, std::size_t acc_bytes) {
  tile_policy policy = policy_for(bytes);
  if (acc_bytes > 16 && policy.nt > 256) policy = {256, 2 * policy.vt};
  while (2 * policy.tile() > short_policy_for(bytes).tile()) policy.nt /= 2;
  return policy;
}

/// Blocks that one SM shall hold at least: fewer than of tiles, since a thread keeps an accumulator
/// of its own.
constexpr int min_resident_any_order_blocks(int nt, std::size_t acc_bytes) {
  return detail::larger((acc_bytes > 32 ? 512 : acc_bytes > 16 ? 768 : 1024) / nt, 1);
}

/// Blocks of any_order_kernel.cuh in one launch: several times what a GPU holds at once (4224 on an
/// H200), so that workspace for them can be told without a GPU.
inline constexpr std::int64_t most_any_order_blocks = 16384;

/// Tiles between two looks at the flag that says a value is settled. All warps read the same word,
/// so each look costs.
inline constexpr int tiles_between_looks = 4;

/// The policy of select_kernel.cuh: few large blocks, since the last one merges the lists of all.
constexpr tile_policy select_policy_for(int bytes) {
  return {1024, detail::bounded(floor_power_of_two(64 / bytes), 1, 64)};
}
constexpr int min_resident_select_blocks(int nt) { return detail::larger(1024 / nt, 1); }

/// Candidates that a warp inserts one by one. Of more, sorting all lanes' elements is faster.
inline constexpr int most_inserted = 4;

// Exact sums.

/// Threads and items a thread, of short ranges: small chunks, so that all warps have some.
inline constexpr tile_policy exact_policy{256, 8};
inline constexpr int min_resident_exact_blocks = 4;
/// Of the shortest, which are one block's, or a cluster's: a chunk a warp, or two.
inline constexpr tile_policy exact_short_policy{1024, 8};
inline constexpr int most_exact_short_chunks = 2;
/// So many items one block takes alone.
inline constexpr std::int64_t most_exact_items_of_block = 8192;
/// Of long ranges of floats by digits: 128 bytes in flight. With the registers of three blocks an
/// SM, the next chunk spills.
inline constexpr tile_policy exact_long_policy{256, 32};
inline constexpr int min_resident_exact_long_blocks = 2;
/// The same of halves: 128 bytes in flight.
inline constexpr tile_policy exact_policy_of_halves{256, 64};
inline constexpr int min_resident_half_blocks = 3;
/// No tile of theirs has fewer items.
inline constexpr int least_exact_tile = exact_policy.tile();
/// Of floats' bins and doubles' rows, whose shared memory leaves room for so many warps.
inline constexpr tile_policy exact_bins_policy{128, 32};
inline constexpr int min_resident_bins_blocks = 5;
inline constexpr tile_policy exact_rows_policy{128, 16};
inline constexpr int min_resident_rows_blocks = 3;
/// Of bfloat16, and of products of floats: the registers of one block more, and the next chunk
/// spills.
inline constexpr tile_policy exact_windows_policy{128, 32};
inline constexpr int min_resident_windows_blocks = 5;
inline constexpr tile_policy exact_products_policy{128, 32};
inline constexpr int min_resident_products_blocks = 3;
/// Ranges of so many items go by them.
inline constexpr std::int64_t least_binned_items = std::int64_t{1} << 22;
/// Whether a GPU adds doubles at half the speed of floats, as bins of floats need it.
constexpr bool adds_doubles_fast(int compute_capability) {
  return compute_capability == 80 || compute_capability == 90 || compute_capability == 100;
}
/// Whether a build takes every GPU for one that does not. A test's does, to run on any GPU what
/// those run.
template <class Build>
inline constexpr bool adds_doubles_slowly = false;
/// Memory in which blocks add up their digits; of doubles, which need most.
inline constexpr std::int64_t exact_sums_bytes = 768;
/// Items of a call at most: of more, sums of digits could leave their words.
inline constexpr std::int64_t most_exact_items = std::int64_t{1} << 38;
/// Items of a tree of which a warp makes the exact sum in few words: of more, digits could leave
/// theirs.
inline constexpr std::int64_t most_narrow_items = std::int64_t{1} << 15;
/// Accumulators that may hold exact sums have so many bytes at least.
inline constexpr std::int64_t least_exact_acc_bytes = 24;

// Forests.

/// Items of a lane's stretch: 64 bytes, so that the 32 lanes of a warp keep the memory busy; but at
/// most 16 items, for while a lane folds its stretch, the tree's other lanes wait.
constexpr int stretch_items_for(int item_bytes) {
  return detail::bounded(1 << tree::floor_log2(64 / detail::smaller(item_bytes, 64)), 1, 16);
}

/// The same of exact sums, which cost most where lanes meet and round: of doubles 128 bytes.
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

/// Neighbouring trees that a warp takes at a time: several batches for each warp, so that none is
/// the last for long.
inline constexpr int batches_of_warp = 8;
inline constexpr std::int64_t most_batch_trees = 4096;

/// Trees of which a lane takes a whole one, of up to `short_items` items: blocks that an SM shall
/// hold, and which trees are short: at most `most_short_mean` items on the average, in so many of
/// 32 places. Of fewer than `least_short_trees`, the launch that looks costs more than it gains.
inline constexpr int short_items = 16;
inline constexpr int min_resident_short_trees_blocks = 10;
inline constexpr int most_short_mean = 14;
inline constexpr int least_short_places = 17;
inline constexpr std::int64_t least_short_trees = std::int64_t{1} << 20;
inline constexpr std::int64_t most_short_trees = std::int64_t{1} << 30;

/// Whether that pays.
constexpr bool pays_to_take_trees(int item_bytes, std::size_t acc_bytes) {
  return item_bytes == 4 && acc_bytes == 4;
}

/// Trees by warps. The next row of stretches in registers wants fewer warps on an SM, so that
/// nothing spills.
inline constexpr int warps_nt = 128;
constexpr int min_resident_warps(bool loads_stretches, std::size_t acc_bytes) {
  if (acc_bytes > 64) return 12;  // with more they spill
  return acc_bytes > 8 ? 16 : loads_stretches ? 24 : 32;
}

/// Larger structs are not staged where a row is cut: what is left of a tree takes too many
/// registers.
inline constexpr int most_cut_struct_bytes = 64;

/// Warps that an SM shall hold where blocks fold slices of structs: with more, they spill.
constexpr int min_resident_struct_warps(std::size_t acc_bytes) { return acc_bytes >= 64 ? 8 : 12; }

/// Trees of 2^k items as levels of one tree: threads of a block, blocks that an SM shall hold, and
/// how often a chunk has a tile's items.
inline constexpr int subtree_nt = 256;
constexpr int min_resident_subtree_blocks(std::size_t acc_bytes) { return acc_bytes > 8 ? 2 : 3; }
inline constexpr int chunk_tiles = 2;

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

/// Slots for the values of slices, and places for long trees. A tree that finds no slots is folded
/// by one block, and a tree that finds no place by one warp.
inline constexpr unsigned max_queued_slots = 16384;
inline constexpr std::int64_t max_queued_trees = 65536;

/// Counters of the turns in which warps take trees: so many that warps rarely meet at one, 64 bytes
/// apart. And how many turns a warp takes, if all take as many.
inline constexpr unsigned num_turn_counters = 16;
inline constexpr unsigned turn_counter_words = 16;
inline constexpr std::int64_t turns_of_warp = 32;

/// Slices that trees of one length are cut into at most: more than four times the blocks of any
/// GPU.
inline constexpr std::int64_t most_split_slices = 16384;

// Columns.

/// How a thread folds columns.
struct column_shape {
  int nt;
  int rows;   // of a chunk
  int width;  // of a packet
};

/// The widest packet that pays, of at most `width` columns: the nodes of a packet, 32 bytes for
/// every level of a run, are what a thread has registers for. Packets are words.
constexpr int column_width_for(int width, int item_bytes, int acc_bytes) {
  while (width > 1 && width * acc_bytes > 32) width /= 2;
  return width * item_bytes < 4 ? 1 : width;
}

/// 64 to 128 bytes in flight per thread hide the memory's latency.
constexpr column_shape column_shape_for(int width, int item_bytes, int acc_bytes) {
  return {detail::bounded(floor_power_of_two(16384 / (width * acc_bytes)), 32, 256),
          detail::bounded(floor_power_of_two(128 / (width * item_bytes)), 2, width > 1 ? 8 : 16),
          width};
}

/// Levels of the tree above a thread's chunk of rows.
inline constexpr int run_levels = 4;

/// Rows of partials that a thread folds.
inline constexpr int partial_rows = 8;

/// Blocks that one SM shall hold at least: fewer than for a tile, since the loads of a chunk and
/// the stack, of which a level takes `node_bytes` bytes, want the registers.
constexpr int min_resident_column_blocks(int nt, std::size_t node_bytes) {
  if (node_bytes > 32) return 1;
  return (node_bytes > 16 ? 512 : 768) / nt;
}

// Runs of equal keys.

inline constexpr int by_key_nt = 128;

/// Items whose heads one warp finds, and whose runs one warp folds.
inline constexpr int patch_items = 2048;
inline constexpr int by_key_warps = by_key_nt / 32;
inline constexpr int by_key_tile = by_key_warps * patch_items;
/// Items of a patch that are folded together; of few patches, those that one warp takes: more warps
/// fold, but each looks for its runs first.
inline constexpr int span_items = 1024;
/// Items of the longest run that a lane folds out of shared memory, and the largest such items.
inline constexpr int by_key_packet = 8;
inline constexpr int most_by_key_staged_bytes = 8;
/// Structs of some sizes come through a ring of shared memory (value_ring.cuh), so many bytes for
/// each warp. A lane has a stretch of 128 bytes, or two items: half as many shuffles as with 64.
/// Stretches are whole chunks of 16 bytes.
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

// Folds in kernels of the user's.

/// Whether half of a warp's lanes read the nodes of a block's threads, in pairs that do the same:
/// if nodes are small and all there, a longer run takes less time than one more shuffle. Otherwise
/// each node of it asks for the count. The lanes of a pair read as one.
constexpr bool pays_to_read_in_pairs(int nt, std::size_t acc_bytes, bool all_there) {
  return acc_bytes == 4 && nt <= 256 && all_there;
}
/// A lane reads the nodes of so many bytes by itself: that takes less time than shuffles, which
/// wait for each other.
inline constexpr int lane_nodes_bytes = 128;
/// And so many bytes of a run before it folds them. All of a long run at once would take more
/// registers than blocks of 1024 threads may have, two to a multiprocessor.
inline constexpr int run_bytes_at_once = 64;

// Rows whose items go out again, joined with the row's value (rows_kernel.cuh).

/// Threads of a block whose warps have rows.
inline constexpr int rows_nt = 128;
/// Packets that a lane has at once: with 32 narrow items they leave registers. Half as many in the
/// shortest rows, twice as many in the longest ones of a warp.
constexpr int row_packets_of_lane(std::size_t item_bytes) { return item_bytes <= 2 ? 2 : 4; }
/// Warps that an SM shall hold, of rows of so many lanes and packets of a lane.
constexpr int resident_rows_warps(int lanes, int packets, std::size_t item_bytes,
                                  std::size_t acc_bytes) {
  if (packets > row_packets_of_lane(item_bytes)) return 20;
  if (item_bytes <= 2) return lanes > 4 ? 32 : 24;
  return lanes == 4 && packets == 4 && acc_bytes <= 16 ? 28 : 24;
}
/// Of a row by a block: packets of a lane at once, how often, and warps at most.
inline constexpr int row_packets = 4;
inline constexpr int row_chunks = 2;
inline constexpr int most_row_warps = 32;
/// A block has so many warps of a row before a cluster takes it; of few rows, fewer.
inline constexpr int most_warps_of_one_block = 16;
inline constexpr int least_warps_of_slices = 4;

// Launches, by GPU.

/// What host code decides at a launch.
struct launch_tuning {
  // Of a short range: one block folds up to a tile by itself, or up to this part of one where
  // blocks form clusters. Threads of a block, where many blocks share the range.
  int short_tile_parts;
  int short_nt;
  // Below these numbers of trees there are too few warps to fill the GPU with one tree each; the
  // longer the trees, the more the last ones are waited for.
  std::int64_t some_trees;
  std::int64_t many_trees;
  // Longer trees are for blocks: of few trees, of some, of many.
  std::int64_t most_warp_items[3];
  // Items of a slice at least: of fewer than many trees, of many.
  std::int64_t least_slice_items[2];
  // Slices that columns are cut into, for each block that the GPU holds.
  int slices_per_block;
  // Patches for each SM from which on a warp looks for heads in most_head_rounds of them.
  std::int64_t head_patches_per_sm;

  constexpr std::int64_t warp_items(std::int64_t trees) const {
    return most_warp_items[trees >= many_trees ? 2 : trees >= some_trees ? 1 : 0];
  }
  constexpr std::int64_t slice_items(std::int64_t trees) const {
    return least_slice_items[trees >= many_trees ? 1 : 0];
  }
};

inline constexpr launch_tuning h200{.short_tile_parts = 2,
                                    .short_nt = 256,
                                    .some_trees = 512,
                                    .many_trees = 4096,
                                    .most_warp_items = {1024, 4096, 16384},
                                    .least_slice_items = {16384, 65536},
                                    .slices_per_block = 4,
                                    .head_patches_per_sm = 128};

/// Of a GPU of compute capability major * 10 + minor: that of an H200, until another was measured.
constexpr const launch_tuning& tuning_of([[maybe_unused]] int compute_capability) { return h200; }

}  // namespace tilefold::detail::cuda
