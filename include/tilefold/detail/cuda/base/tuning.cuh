// SPDX-License-Identifier: Apache-2.0
//
// The measured numbers of ranges and of launches: threads of a block (nt), items of a thread (vt),
// blocks that an SM shall hold, and sizes at which another kernel takes over. They decide speed and
// nothing else. All were measured on one NVIDIA H200 (compute capability 9.0, 132 SMs; driver
// 580.159, CUDA 13.0), except three on one H100: short rows, rows whose items go out again, and
// lanes with accumulators of 9 to 32 bytes. docs/notes/tuning.md has the figures, and what was
// tried and lost. Where each kernel has its nt and vt:
//
//     tile_kernel, blocks_kernel          the table in policy_for()
//     short_kernel                        short_policy_for()
//     any_order_kernel, select_kernel     any_order_policy_for(), select_policy_for()
//     staged tiles and trees              staged_reducer_shape(), staged_structs_shape()
//     trees by lanes, warps, subtrees     lanes_nt, warps_nt, subtree_nt (tuning_forests.cuh)
//     exact sums, columns, runs of keys   tuning_exact.cuh, tuning_columns.cuh, tuning_keys.cuh
//     rows, kernels of users              in the kernel's file
//
// A type, a launch bound and a kernel have one shape for all GPUs, because a template means one
// thing in a program. To tune another GPU: give it a table of what host code decides at a launch
// (launch_tuning), and a line in tuning_of(). Another tile shape is another kernel: put a second
// table beside that of policy_for(), compile both kernels, and let the launch choose by compute
// capability. Size queries know no GPU, so they use bounds for all GPUs (most_...).
#pragma once

#include <cstddef>
#include <cstdint>

#include <tilefold/config.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/policy.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

constexpr int floor_power_of_two(int x) { return x < 1 ? 1 : 1 << tree::floor_log2(x); }

/// n / d, rounded up; of CUDA blocks, batches, turns. (tree::num_blocks counts aligned blocks.)
TILEFOLD_HD constexpr std::int64_t ceil_div(std::int64_t n, std::int64_t d) {
  return tree::num_blocks(n, d);
}

/// `blocks`, or as many as an SM holds of `nt` threads each: 1024 threads before 8.0, then 1536.
constexpr int blocks_that_fit(int blocks, int nt) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return detail::smaller(blocks, 1024 / nt);
#else
  return detail::smaller(blocks, 1536 / nt);
#endif
}

// Tiles of ranges and of slices of trees.

/// `nt` threads with `thread_bytes` bytes of items each: vt is the power of two that fits.
constexpr tile_policy policy_of(int nt, int thread_bytes, int item_bytes) {
  return {nt, detail::bounded(floor_power_of_two(thread_bytes / item_bytes), 1, 64)};
}

/// The policy for items of `bytes` bytes, on all GPUs an H200's: the first line that fits. 64 bytes
/// in flight per thread at 1024 threads per SM hide the memory's latency, and tiles of 32 KiB make
/// the work between tiles small. Structs that are their own accumulators take long to shuffle, so
/// they have more in flight. Larger items want more registers than 512 threads leave them.
constexpr tile_policy policy_for(int bytes, int acc_bytes = 4) {
  constexpr struct {
    int most_bytes;  // of an item
    bool structs;    // only for structs that are their own accumulators, of more than 8 bytes
    int nt;
    int thread_bytes;
  } lines[] = {{8, false, 512, 64},    // vt = 64 to 8
               {12, false, 512, 96},   // vt = 8
               {16, true, 512, 256},   // vt = 16
               {32, true, 1024, 128},  // vt = 4
               {64, true, 512, 512},   // vt = 8
               {16, false, 512, 64}};  // vt = 4
  const bool structs = acc_bytes > 8 && acc_bytes <= bytes;
  for (const auto& line : lines) {
    if (bytes <= line.most_bytes && (structs || !line.structs)) {
      return policy_of(line.nt, line.thread_bytes, bytes);
    }
  }
  return policy_of(128, 512, bytes);  // larger items: vt = 16 to 1
}

/// The size of an item or accumulator, as policies use it: above this limit the policy is the same.
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

/// Stripes that a lane has in registers together: `most_stripes`, and their bytes.
inline constexpr int most_stripes = 16;
inline constexpr int stripe_bytes_budget = 128;

/// The largest accumulators for which the levels of a warp's tree, and the chunks of a warp's part
/// of a tile, are written out one by one. Larger ones are exchanged in more than 32 instructions at
/// each level, beside which a loop costs little; their kernels become a fraction as large. (With
/// loops, staged tiles of structs of 96 bytes would spill.)
inline constexpr int most_unrolled_bytes = 128;

/// Whether a thread has the registers for a second tile's items, `loaded_bytes` of them in packets
/// of `width`. They spill with accumulators of 8 bytes, and with larger ones of items as large.
constexpr bool pays_to_load_ahead(std::size_t loaded_bytes, std::size_t acc_bytes, int width) {
  return loaded_bytes <= 80 && (acc_bytes <= 4 || (acc_bytes > 8 && acc_bytes <= 24 && width >= 4));
}

/// Partials that a thread folds when its block is the last of a group.
inline constexpr int group_vt = 4;
/// Partials per group.
TILEFOLD_HD constexpr int group_size(tile_policy policy) { return policy.nt * group_vt; }

// Short ranges.

/// Larger accumulators are not handed on in short ranges: there, one block folds them alone.
inline constexpr int most_shared_bytes = 32;

/// The largest tile of short ranges; blocks may have fewer threads and so smaller tiles.
constexpr tile_policy short_policy_for(int bytes) {
  return bytes > 16 ? policy_of(256, 512, bytes) : policy_of(1024, 64, bytes);
}

/// The short tile of a reducer. Variances of narrow items, and places of extremes (in any order),
/// take long to combine: with four items a thread, more threads share the work.
constexpr tile_policy short_policy_for(int bytes, int acc_bytes, bool in_any_order) {
  const bool takes_long = (acc_bytes > 16 && bytes <= 4) || (acc_bytes > 8 && in_any_order);
  const bool small = bytes <= 8 && acc_bytes <= most_shared_bytes;
  return takes_long && small ? tile_policy{1024, 4} : short_policy_for(bytes);
}

/// Blocks that share a short range at most: a warp folds their values, eight a lane.
inline constexpr std::int64_t most_short_blocks = 256;
/// Blocks of all threads for the longest short ranges: about one for every SM of a large GPU.
inline constexpr std::int64_t most_whole_blocks = 128;

/// Items that count as a short range.
constexpr std::int64_t most_short_range_items(tile_policy short_tile, std::int64_t acc_bytes) {
  return short_tile.tile() * (acc_bytes > most_shared_bytes ? 1 : most_whole_blocks);
}

// Staged tiles.

/// How a tile is staged: threads of a block, items of a lane's cell, cells of a lane, and blocks
/// that an SM shall hold. A block has 32 KiB of shared memory for items on their way.
struct staged_shape {
  int nt;
  int cell;
  int stripes;
  int blocks;

  constexpr tile_policy policy() const { return {nt, cell * stripes}; }
};

/// Whether accumulators of `acc_bytes` bytes are large, and several times their items.
constexpr bool pays_to_stage_reducer(int item_bytes, std::int64_t acc_bytes) {
  return acc_bytes >= 16 && acc_bytes <= 512 && acc_bytes >= 2 * item_bytes && item_bytes <= 16;
}

/// A cell has up to 128 bytes, a word a bank. With less than 128 registers whole tiles would spill.
constexpr staged_shape staged_reducer_shape(int item_bytes) {
  return {128, 1 << tree::floor_log2(detail::bounded(128 / item_bytes, 1, 32)), 4, 4};
}

/// A cell of structs is of whole 16 bytes, `bytes` if it can be, and 0 where it would have more
/// than `most`, which is too long for shared memory.
constexpr int cell_of_structs(int item_bytes, int bytes, int most) {
  int cell = 1 << tree::floor_log2(detail::bounded(bytes / item_bytes, 1, 32));
  while (cell * item_bytes % 16 != 0) cell *= 2;
  return cell * item_bytes > most ? 0 : cell;
}

/// Larger structs want more registers and a longer cell, so fewer threads.
constexpr staged_shape staged_structs_shape(int item_bytes) {
  return item_bytes > 64 ? staged_shape{64, cuda::cell_of_structs(item_bytes, 256, 352), 2, 6}
                         : staged_shape{128, cuda::cell_of_structs(item_bytes, 128, 176), 4, 3};
}

constexpr bool pays_to_stage_structs(int item_bytes, std::int64_t acc_bytes) {
  return acc_bytes == item_bytes && item_bytes % 4 == 0 && item_bytes >= 12 && item_bytes != 16 &&
         item_bytes <= 128 && staged_structs_shape(item_bytes).cell > 0;
}

constexpr staged_shape staged_shape_for(int item_bytes, std::int64_t acc_bytes) {
  return pays_to_stage_structs(item_bytes, acc_bytes) ? staged_structs_shape(item_bytes)
                                                      : staged_reducer_shape(item_bytes);
}

/// Whether a fold in the fixed order may be staged.
constexpr bool pays_to_stage(int item_bytes, std::int64_t acc_bytes) {
  return pays_to_stage_reducer(item_bytes, acc_bytes) ||
         pays_to_stage_structs(item_bytes, acc_bytes);
}

/// The policy of ranges of reducers whose longer ranges are staged.
constexpr tile_policy unstaged_policy_for(int item_bytes, int acc_bytes) {
  const tile_policy policy = policy_for(item_bytes, acc_bytes);
  return {policy.nt, detail::smaller(policy.vt, 16)};
}

/// Whether a range of a reducer is long enough to be staged. A last tile that is cut off takes a
/// block up to 20 us, which is made up for from 32 MiB on.
inline constexpr std::int64_t least_staged_bytes = 32 << 20;
constexpr bool pays_to_stage_range(std::int64_t n, int item_bytes, int staged_tile) {
  return n % staged_tile <= 1024 || n >= least_staged_bytes / item_bytes;
}

/// Stripes whose code stands side by side: all of a tile's code must fit the instruction cache.
constexpr int staged_stripes_unrolled(std::size_t acc_bytes) { return acc_bytes <= 32 ? 2 : 1; }

/// Items that a lane folds before it joins their node to others.
constexpr int staged_packet(bool long_combine) { return long_combine ? 8 : 16; }

// Any order.

/// The policy of launch_any_order.cuh: large accumulators leave room for half as many threads,
/// which then have twice as much in flight. A range that is no short one has two tiles or more.
constexpr tile_policy any_order_policy_for(int bytes, std::size_t acc_bytes) {
  tile_policy policy = policy_for(bytes);
  if (acc_bytes > 16 && policy.nt > 256) policy = {256, 2 * policy.vt};
  while (2 * policy.tile() > short_policy_for(bytes).tile()) policy.nt /= 2;
  return policy;
}

/// Blocks of launch_any_order.cuh in one launch: several times what a GPU holds at once (4224 on an
/// H200), so that workspace for them can be told without a GPU.
inline constexpr std::int64_t most_any_order_blocks = 16384;

// Exact sums, as far as size queries know them.

/// Memory in which blocks add up their digits; of doubles, which need most.
inline constexpr std::int64_t exact_sums_bytes = 768;
/// Accumulators that may hold exact sums have so many bytes at least.
inline constexpr std::int64_t least_exact_acc_bytes = 24;
/// No tile of theirs has fewer items.
inline constexpr int least_exact_tile = 2048;

/// What host code decides at a launch, by GPU.
struct launch_tuning {
  int short_tile_parts;  // one block folds up to this part of a short tile, a cluster more
  int short_nt;          // threads of a block where blocks of the whole GPU share a short range
  // Below these numbers of trees, trees are few, or some. Then there are too few warps to fill the
  // GPU with one tree each; the longer the trees, the longer the last ones are waited for.
  std::int64_t some_trees;
  std::int64_t many_trees;
  std::int64_t longest_for_warps[3];  // of a tree that a warp folds: of few trees, some, many
  std::int64_t least_slice_items[2];  // of a slice: of fewer than many trees, of many
  std::int64_t head_patches_per_sm;   // for so many a warp finds heads in most_head_rounds patches

  constexpr std::int64_t longest_for_warp(std::int64_t trees) const {
    return longest_for_warps[trees >= many_trees ? 2 : trees >= some_trees ? 1 : 0];
  }
  constexpr std::int64_t slice_items(std::int64_t trees) const {
    return least_slice_items[trees >= many_trees ? 1 : 0];
  }
};

inline constexpr launch_tuning h200_tuning{.short_tile_parts = 2,
                                           .short_nt = 256,
                                           .some_trees = 512,
                                           .many_trees = 4096,
                                           .longest_for_warps = {1024, 4096, 16384},
                                           .least_slice_items = {16384, 65536},
                                           .head_patches_per_sm = 128};

/// The table of a GPU of compute capability major * 10 + minor. A GPU with numbers of its own has a
/// line here; all others have an H200's.
constexpr const launch_tuning& tuning_of([[maybe_unused]] int compute_capability) {
  return h200_tuning;
}

}  // namespace tilefold::detail::cuda
