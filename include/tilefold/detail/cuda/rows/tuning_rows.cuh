// SPDX-License-Identifier: Apache-2.0
//
// The measured numbers of rows whose items go out again, with the row's value. As tuning.cuh.
#pragma once

#include <cstddef>

#include <tilefold/config.hpp>

namespace tilefold::detail::cuda {

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

}  // namespace tilefold::detail::cuda
