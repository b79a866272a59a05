// SPDX-License-Identifier: Apache-2.0
//
// The tree over the warps of a block, through shared memory; here 4 warps:
//
//     warp       0    1    2    3       lane 0 of each writes its warp's node
//     shared   [ v0   v1   v2   v3 ]    a barrier
//     warp 0     v0   v1   v2   v3      lane i reads node i % 4
//                 `----'    `----'      lanes 0 and 1, 2 and 3 exchange
//                   `--------'          lanes 0 and 2, 1 and 3 exchange: all have the root
//
// (In a user's kernel threads leave their nodes, and a lane reads many: kernel_fold.cuh.)
#pragma once

#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// The tree over up to `Most` nodes, each of which covers `Width` items; a power of two, a warp's
/// lanes at most. `Full` and the item `count` as in stripe_merge.cuh.
template <int Most, int Width, bool Full, class Reducer>
struct block_tree {
  static_assert(tree::is_power_of_two(Most) && Most <= warp_size);
  using acc = typename Reducer::accumulator;
  static constexpr int levels_at_once = unrolled_levels<acc>;

  /// The node of all warps, in every lane of the first one; elsewhere `mine`. `values` is shared
  /// memory for a node of each warp, free to use. The block has `warps` warps, a power of two.
  __device__ __forceinline__ static acc fold(const Reducer& reducer, const acc& mine, acc* values,
                                             int count, int warps = Most) {
    if constexpr (Most == 1) {
      return mine;
    } else {
      const int warp = static_cast<int>(threadIdx.x / warp_size);
      const int lane = static_cast<int>(threadIdx.x % warp_size);
      if (lane == 0) ::new (static_cast<void*>(values + warp)) acc(mine);
      __syncthreads();
      if (warp != 0) return mine;
      const int number = lane & (warps - 1);
      return fold_lanes(reducer, values[number], number, count, warps);
    }
  }

  /// The node of all warps of a block that has `Most` warps, in every lane of the first one.
  __device__ __forceinline__ static acc fold_all(const Reducer& reducer, const acc& mine,
                                                 acc* values, int count) {
    if constexpr (Most == 1) {
      return mine;
    } else {
      const int warp = static_cast<int>(threadIdx.x) / warp_size;
      const int lane = static_cast<int>(threadIdx.x) % warp_size;
      if (lane == 0) ::new (static_cast<void*>(values + warp)) acc(mine);
      __syncthreads();
      if (warp != 0) return mine;
      registers<acc, 1> node;
      node.put(0, values[lane % Most]);
      return stripe_fold<1, Width, Full, Reducer, Most>(reducer, 0, count, lane % Most).fold(node);
    }
  }

  /// Keeps the node of this warp.
  __device__ __forceinline__ static void put(acc* values, const acc& mine) {
    if (threadIdx.x % warp_size == 0)
      ::new (static_cast<void*>(values + threadIdx.x / warp_size)) acc(mine);
  }

  /// The node of all, in every lane of a warp: lane i holds node i % `nodes`, which is `number`.
  __device__ __forceinline__ static acc fold_lanes(const Reducer& reducer, const acc& mine,
                                                   int number, int count, int nodes = Most) {
    registers<acc, 1> node;
    node.put(0, mine);
#pragma unroll levels_at_once
    for (int bit = 0; (1 << bit) < Most; ++bit) {
      if ((1 << bit) >= nodes) break;
      const acc received = cuda::shuffle_xor(node[0], 1 << bit);
      node.put(0, cuda::combine_lanes<Full>(reducer, node[0], received, (number >> bit) & 1,
                                            tree::right_half(number, bit + 1) * Width, count));
    }
    return node[0];
  }
};

}  // namespace tilefold::detail::cuda
