// SPDX-License-Identifier: Apache-2.0
//
// The measured numbers of columns. As tuning.cuh says.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/base/tuning.cuh>

namespace tilefold::detail::cuda {

/// How a thread folds columns.
struct column_shape {
  int nt;
  int items;  // of a set
  int width;  // of a bundle
};

/// The widest bundle that pays, of at most `width` columns: the nodes of a bundle, 32 bytes for
/// every level of a stretch, are what a thread has registers for. Bundles are words.
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

/// Neighbouring bundles that a block takes at least, of so many. Single columns lie close together
/// and begin anywhere, so 128 are taken where few of the last block's threads are without one.
constexpr int bundles_side_by_side(int width, std::int64_t bundles) {
  return width == 1 && bundles >= 1024 ? 128 : 32;
}

/// Levels of the tree above a thread's set of items.
inline constexpr int stretch_levels = 4;

/// Partials of a column that a thread folds.
inline constexpr int partials_of_thread = 8;

/// Blocks that one SM shall hold at least: fewer than for a tile, since the loads of a set and
/// the stack, of which a level takes `node_bytes` bytes, want the registers.
constexpr int min_resident_column_blocks(int nt, std::size_t node_bytes) {
  if (node_bytes > 32) return 1;
  return (node_bytes > 16 ? 512 : 768) / nt;
}

}  // namespace tilefold::detail::cuda
