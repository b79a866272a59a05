// SPDX-License-Identifier: Apache-2.0
//
// Ranges of more items than 32 bits count. No oracle folds those item by item. So they are made of
// blocks of 2^20 items of few kinds: the oracle folds one block of each kind, and then the blocks,
// which is the same tree.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilefold/config.hpp>

#include "device.cuh"
#include "order.hpp"

namespace tilefold::test {

inline constexpr std::int64_t one = 1;
inline constexpr std::int64_t large_block = one << 20;

// ---- in no memory: every item of a block is the block's number

struct block_of_index {
  TILEFOLD_HD std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(i >> 20);
  }
};

/// The tree over `count` items that are all `leaf`.
inline lifted_hash tree_of_equals(const lifted_hash& leaf, std::int64_t count) {
  if (count == large_block) {
    lifted_hash value = leaf;
    for (std::int64_t items = 1; items < large_block; items *= 2) value = node_hash{}(value, value);
    return value;
  }
  running_fold<lifted_node_hash, lifted_hash> fold{lifted_node_hash{}};
  for (std::int64_t i = 0; i < count; ++i) fold.push(leaf);
  return fold.value();
}

/// The tree over items [begin, end); begin is a multiple of a block.
inline lifted_hash tree_of_blocks(std::int64_t begin, std::int64_t end) {
  std::vector<lifted_hash> blocks;
  for (std::int64_t at = begin; at < end; at += large_block) {
    blocks.push_back(tree_of_equals(block_of_index{}(at), std::min(end - at, large_block)));
  }
  return neighbour_tree(lifted_node_hash{}, blocks);
}

// ---- in memory: the same 2^20 bytes over and over

inline std::vector<std::uint8_t> block_of_bytes() {
  std::vector<std::uint8_t> bytes;
  for (std::int64_t i = 0; i < large_block; ++i) bytes.push_back(order_byte(i));
  return bytes;
}

/// Whether the GPU has room for n bytes, and 1 GiB beside them.
inline bool has_room_for(std::int64_t n) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  must(cudaMemGetInfo(&free_bytes, &total_bytes));
  return free_bytes >= static_cast<std::size_t>(n) + (std::size_t{1} << 30);
}

/// Writes n bytes to device memory.
inline void repeat_block(const std::vector<std::uint8_t>& block, std::uint8_t* first,
                         std::int64_t n) {
  for (std::int64_t at = 0; at < n; at += large_block) {
    must(cudaMemcpyAsync(first + at, block.data(),
                         static_cast<std::size_t>(std::min(large_block, n - at)), cudaMemcpyDefault,
                         cudaStreamLegacy));
  }
}

}  // namespace tilefold::test
