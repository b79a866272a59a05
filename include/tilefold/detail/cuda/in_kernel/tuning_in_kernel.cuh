// SPDX-License-Identifier: Apache-2.0
//
// The measured numbers of folds in kernels of the user's own. As tuning.cuh says.
#pragma once

#include <cstddef>

#include <tilefold/config.hpp>

namespace tilefold::detail::cuda {

/// Whether half of a warp's lanes read the nodes of a block's threads, in pairs that do the same:
/// if nodes are small and all there, reading more nodes takes less time than one more shuffle.
/// Otherwise each node that is read asks for the count. The lanes of a pair read as one.
constexpr bool pays_to_read_in_pairs(int nt, std::size_t acc_bytes, bool all_there) {
  return acc_bytes == 4 && nt <= 256 && all_there;
}
/// A lane reads the nodes of so many bytes by itself: that takes less time than shuffles, which
/// wait for each other.
inline constexpr int lane_nodes_bytes = 128;
/// And so many bytes at a time, which it folds before it reads more. All at once would take more
/// registers than blocks of 1024 threads may have, two to a multiprocessor.
inline constexpr int read_bytes_at_once = 64;

}  // namespace tilefold::detail::cuda
