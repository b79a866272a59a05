// SPDX-License-Identifier: Apache-2.0
//
// Full tiles in a row, the items of the next one on their way while one is folded:
//
//     load      t0   t1   t2   t3            into registers, all rows of a lane
//     fold           t0   t1   t2   t3       lifted, then as in block_fold.cuh
//
// For aligned memory, and for accumulators that leave room for two tiles' items in registers.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/block_fold.cuh>
#include <tilefold/detail/cuda/tile_load.cuh>
#include <tilefold/detail/cuda/warp_fold.cuh>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// As tile_fold for a full tile, in two steps.
template <tile_policy Policy, class Source, class Reducer>
class tile_ahead {
  using acc = typename Reducer::accumulator;
  static constexpr tile_shape shape = shape_of<acc>(Policy.vt, static_cast<const Source*>(nullptr));
  static constexpr int row_items = warp_size * shape.width;
  static constexpr int warp_items = warp_size * Policy.vt;
  static constexpr int num_warps = Policy.nt / warp_size;

 public:
  using items = lane_rows<Source, shape.rows, shape.width>;

  static constexpr bool pays =
      shape.chunks == 1 && pays_to_load_ahead(sizeof(items), sizeof(acc), shape.width);

  /// Of memory that is aligned: overreads() is false.
  __device__ __forceinline__ static void load(items& loaded, const Source& source,
                                              std::int64_t tile_first) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    // Then the compiler leaves out the code for misaligned memory.
    __builtin_assume(!items::overreads(source));
    loaded.load_rows(source, tile_first + warp * warp_items + lane * shape.width);
  }

  __device__ __forceinline__ static acc fold(const items& loaded, const Reducer& reducer,
                                             acc* warp_values) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const acc value = fold_warp(loaded, reducer);
    if constexpr (num_warps == 1) {
      return value;
    } else {
      if (lane == 0) new (&warp_values[warp]) acc(value);
      __syncthreads();
      if (warp != 0) return value;
      registers<acc, 1> node;
      node.put(0, warp_values[lane % num_warps]);
      return row_fold<1, 1, true, Reducer, num_warps>(reducer, 0, num_warps, lane % num_warps)
          .fold(node);
    }
  }

 private:
  __device__ __forceinline__ static acc fold_warp(const items& loaded, const Reducer& reducer) {
    registers<acc, shape.rows> rows;
#pragma unroll
    for (int r = 0; r < shape.rows; ++r) {
      registers<acc, shape.width> lifted;
#pragma unroll
      for (int j = 0; j < shape.width; ++j) lifted.put(j, loaded.lift(reducer, r, j));
      rows.put(r, cuda::fold_packet<true>(reducer, lifted, 0, 0));
    }
    return row_fold<shape.rows, shape.width, true, Reducer>(reducer, 0, Policy.tile()).fold(rows);
  }
};

}  // namespace tilefold::detail::cuda
