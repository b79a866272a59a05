// SPDX-License-Identifier: Apache-2.0
//
// What short_kernel and tile_kernel are given to fold trees of a forest as ranges. Device code.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// Every row of a forest of one length, which has an item or more, and no more than its blocks'
/// tiles:
///
///     grid       y: blocks of a row                 x: rows
///     row 0    | b0 | b1 | .. | b7 | -> out[0]      one block, or a cluster of 8 that hand their
///     row 1    | b0 | b1 | .. | b7 | -> out[1]      values to the first
///      ..
///
/// All of a row is on its way at once, and the GPU gives the next row to whatever SM is free. The
/// kernels of forests hold a GPU and take trees in a fixed order, so the last ones are waited for.
template <class Forest, class Acc>
struct short_range_of_row {
  static constexpr bool only_clusters = true;

  Forest forest;

  __device__ __forceinline__ unsigned block() const { return blockIdx.y; }
  __device__ __forceinline__ unsigned blocks() const { return gridDim.y; }
  __device__ __forceinline__ auto source() const { return forest.tree(row()); }
  __device__ __forceinline__ int size() const { return static_cast<int>(forest.length); }
  __device__ __forceinline__ scratch<Acc> memory() const { return {}; }
  template <class Out>
  __device__ __forceinline__ decltype(auto) place(const Out& out) const {
    return out + row();
  }
  __device__ __forceinline__ static std::int64_t row() { return blockIdx.x; }
};

/// A length that stands in memory which the GPU reads (forest.hpp), and what stands for no
/// items. Blocks are as many as the GPU holds, or as the longest range has tiles:
///
///     length      10 tiles of up to 1000; 4 blocks
///     tiles       0   1   2 | 3   4   5 | 6   7 | 8   9
///                  block 0     block 1    b. 2    b. 3
template <class Number, class Empty>
struct deferred_length {
  static constexpr bool may_be_zero = true;

  Number number;
  Empty empty;

  __device__ __forceinline__ std::int64_t get() const { return number.get(); }
  __device__ __forceinline__ tile_shares shares(std::int64_t n, int tile) const {
    const auto tiles = static_cast<unsigned>(tree::num_blocks(n, std::int64_t{tile}));
    return {tiles / gridDim.x, tiles % gridDim.x};
  }
};

}  // namespace tilefold::detail::cuda
