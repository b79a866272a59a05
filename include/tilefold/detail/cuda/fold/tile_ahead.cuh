// SPDX-License-Identifier: Apache-2.0
//
// Full tiles in a row, the items of the next one on their way while one is folded:
//
//     load      t0   t1   t2   t3            into registers, all rows of a lane
//     fold           t0   t1   t2   t3       lifted, then as in tile_fold.cuh
//
// For aligned memory, and for accumulators that leave room for two tiles' items in registers.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/fold/block_tree.cuh>
#include <tilefold/detail/cuda/fold/chunk.cuh>
#include <tilefold/detail/cuda/fold/row_merge.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>
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
    using warps = block_tree<num_warps, warp_items, true, Reducer>;
    return warps::fold_all(reducer, cuda::fold_chunk(reducer, loaded), warp_values, Policy.tile());
  }
};

}  // namespace tilefold::detail::cuda
