// SPDX-License-Identifier: Apache-2.0
//
// What the rungs share: how their host functions check what they are given and launch pass after
// pass, and the few device functions without which a kernel would not be short.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ladder {

using index = std::int64_t;

/// Device memory for what the blocks of one pass leave to the next, and the stream to work in.
/// n + 64 items of scratch are enough for every rung.
struct setting {
  void* scratch;
  std::size_t scratch_bytes;
  cudaStream_t stream;
};

// ---- host: limits

inline void require(bool fine, const std::string& complaint) {
  if (!fine) throw std::invalid_argument("ladder: " + complaint);
}

inline void require_items(index n) {
  require(n >= 1, "cannot fold " + std::to_string(n) + " items");
}

/// The halving loops pair thread t with thread t + stride and assume that there is one.
inline void require_threads(int threads, int least) {
  const bool power_of_two = threads > 0 && (threads & (threads - 1)) == 0;
  require(power_of_two && threads >= least && threads <= 1024,
          "a block must have a power of two of threads from " + std::to_string(least) +
              " to 1024, not " + std::to_string(threads));
}

/// Bytes of `count` values in dynamic shared memory.
template <class T>
std::size_t shared_bytes(int count) {
  constexpr std::size_t most = 48 * 1024;  // without asking for more
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  require(bytes <= most, "a block would need " + std::to_string(bytes) +
                             " bytes of shared memory and has " + std::to_string(most));
  return bytes;
}

/// Scratch for `count` values after the first `used`.
template <class T>
T* scratch_for(const setting& s, index used, index count) {
  const std::size_t needed = static_cast<std::size_t>(used + count) * sizeof(T);
  require(needed <= s.scratch_bytes, "needs " + std::to_string(needed) +
                                         " bytes of scratch or more, not " +
                                         std::to_string(s.scratch_bytes));
  return static_cast<T*>(s.scratch) + used;
}

// ---- host: passes

/// Blocks of `per_block` items that cover n.
inline unsigned blocks_for(index n, index per_block) {
  const index blocks = (n + per_block - 1) / per_block;
  require(blocks <= 0x7fffffff, std::to_string(n) + " items are " + std::to_string(blocks) +
                                    " blocks, more than one launch can have");
  return static_cast<unsigned>(blocks);
}

/// Blocks for kernels that stride through the array, so that a few suffice: what fills a large GPU.
inline unsigned few_blocks_for(index n, index per_block) {
  return static_cast<unsigned>(std::min<index>((n + per_block - 1) / per_block, 1024));
}

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) {
    throw std::runtime_error(std::string("ladder: ") + what + ": " + cudaGetErrorString(code));
  }
}

/// Calls pass(items, n, results, blocks), which leaves one value of each block, on the items, on
/// the values left, and so on until one value is left, in *out. per_block is 2 or more.
template <class T, class Pass>
void repeat_passes(const T* items, index n, T* out, index per_block, const setting& s, Pass pass) {
  unsigned blocks = blocks_for(n, per_block);
  for (index used = 0; blocks > 1; blocks = blocks_for(n, per_block)) {
    T* const values = scratch_for<T>(s, used, blocks);
    pass(items, n, values, blocks);
    items = values;
    n = blocks;
    used += blocks;
  }
  pass(items, n, out, 1u);
  check(cudaGetLastError(), "launch");
}

// ---- device

/// The block's dynamic shared memory; templates cannot each declare an array of their own.
template <class T>
__device__ T* shared_memory() {
  static_assert(alignof(T) <= 16);
  extern __shared__ __align__(16) unsigned char bytes[];
  return reinterpret_cast<T*>(bytes);
}

constexpr unsigned all_lanes = 0xffffffffu;

/// The value of the lane `by` further on, of any type made of words. Lanes at the end of a group
/// of `width` get their own.
template <class T>
__device__ T from_lane_above(const T& value, int by, int width = 32) {
  static_assert(sizeof(T) % sizeof(unsigned) == 0 && std::is_trivially_copyable_v<T>);
  const unsigned lanes = width == 32 ? all_lanes : (1u << width) - 1;
  unsigned words[sizeof(T) / sizeof(unsigned)];
  memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_down_sync(lanes, word, by, width);
  T result;
  memcpy(&result, words, sizeof result);
  return result;
}

/// *to += value, whichever block comes first.
template <class T>
__device__ void add_atomically(T* to, T value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
  } else {
    atomicAdd(to, value);
  }
}

}  // namespace ladder
