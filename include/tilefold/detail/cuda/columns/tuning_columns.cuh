// SPDX-License-Identifier: Apache-2.0
//
// The measured numbers of columns. As tuning.cuh says.
#pragma once

#include <tilefold/detail/cuda/base/tuning.cuh>

namespace tilefold::detail::cuda {

/// How a thread folds columns.
struct column_shape {
  int nt;
  int items;  // of a set
  int width;  // of a bundle
};

/// The widest bundle that pays, of at most `width` columns: the nodes of a bundle, 32 bytes for
/// every level of a stretch, are what a thread has registers for. So are its bytes, each of which
/// takes a register where it is folded. Bundles are words.
constexpr int column_width_for(int width, int item_bytes, int acc_bytes) {
  while (width > 1 && (width * acc_bytes > 32 || (width > 4 && item_bytes == 1))) width /= 2;
  return width * item_bytes < 4 ? 1 : width;
}

/// 64 bytes of a set, 128 of bundles, and as many that are loaded ahead hide the memory's latency.
constexpr column_shape column_shape_for(int width, int item_bytes, int acc_bytes) {
  const int set_bytes = width > 1 ? 128 : 64;
  return {
      detail::bounded(floor_power_of_two(16384 / (width * acc_bytes)), 32, 256),
      detail::bounded(floor_power_of_two(set_bytes / (width * item_bytes)), 2, width > 1 ? 8 : 16),
      width};
}

/// Levels of the tree above a thread's set of items.
inline constexpr int stretch_levels = 4;

/// Partials of a column that a thread folds.
inline constexpr int partials_of_thread = 8;

/// Whether a set is loaded while the one before it is folded, or only then: whether both and the
/// stack leave registers for the fold.
constexpr bool pays_to_load_while_folding(std::size_t set_bytes, std::size_t node_bytes) {
  return 2 * set_bytes + (stretch_levels + 1) * node_bytes <= 352;
}

/// Blocks that one SM shall hold at least: fewer than for a tile, since the loads of two sets and
/// the stack, of which a level takes `node_bytes` bytes, want the registers.
constexpr int min_resident_column_blocks(int nt, std::size_t node_bytes) {
  return node_bytes > 32 ? 1 : 512 / nt;
}

// Short columns, of which a thread loads a whole bundle at once.
inline constexpr int short_column_items = 8;
inline constexpr int short_columns_nt = 256;
inline constexpr int most_short_column_acc_bytes = 32;
inline constexpr int most_short_column_bytes = 256;  // of a bundle

/// The widest bundle of short columns: nodes of up to 128 bytes; of bytes, four columns.
constexpr int short_column_width_for(int width, int item_bytes, int acc_bytes) {
  while (width > 1 && (width * acc_bytes > 128 || (width > 4 && item_bytes == 1))) width /= 2;
  return width * item_bytes < 4 ? 1 : width;
}

}  // namespace tilefold::detail::cuda
