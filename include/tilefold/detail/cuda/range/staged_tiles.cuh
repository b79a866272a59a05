// SPDX-License-Identifier: Apache-2.0
//
// Tiles of tile_kernel.cuh where accumulators are large for their items, and of structs, which a
// lane better folds a cell of by itself (staged_stripes.cuh):
//
//     tile     |   warp 0   |   warp 1   |   warp 2   |   warp 3   |    128 threads
//     warp     | stripe 0 | stripe 1 | stripe 2 | stripe 3 |            a chunk: stripes of cells
//     lane     one node of each stripe, in registers
//     warp     stripe_fold (stripe_merge.cuh) makes one node of 4 stripes of 32 nodes
//     block    the warps' nodes meet in shared memory: a partial a tile, as in grid_tree.cuh
//
// In a tile that is cut off, each warp folds its part stripe by stripe (tile_fold.cuh).
#pragma once

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/fold/block_tree.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/staged_stripes.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>

namespace tilefold::detail::cuda {

/// Folds tiles of staged_shape_of; all threads of a block together.
template <class Source, class Reducer>
class staged_fold_of_tiles {
  using acc = typename Reducer::accumulator;
  static constexpr staged_shape shape = staged_shape_of<Source, Reducer>;
  static constexpr int cell = shape.cell;
  static constexpr int stripes = shape.stripes;
  static constexpr int warp_items = stripes * warp_size * cell;
  static constexpr int num_warps = shape.nt / warp_size;
  // Of a cut tile. More items of a lane at a time would need more registers than whole tiles do.
  static constexpr tile_policy stripe{warp_size, detail::smaller(cell, 8)};
  using stripes_type = staged_stripes<Source, Reducer>;

 public:
  static constexpr int tile = shape.policy().tile();

  struct shared_memory {
    typename stripes_type::stage of_warp[num_warps][2];
    slot<acc> warp_values[2][num_warps];
  };

  __device__ __forceinline__ staged_fold_of_tiles(const Source& source, const Reducer& reducer,
                                                  shared_memory& shared)
      : source_(source),
        reducer_(reducer),
        shared_(shared),
        warp_(static_cast<int>(threadIdx.x) / warp_size),
        stripes_(source, reducer, shared.of_warp[warp_]) {}

  /// Items behind a tile that may be read with it.
  __device__ int overread_items() const { return stripes_.overread_items(); }

  /// Calls keep(value, t) for each tile t of [t, end), of which all items exist; the value is valid
  /// in the first warp.
  template <class Keep>
  __device__ __forceinline__ void whole_tiles(unsigned t, unsigned end, const Keep& keep) const {
    if (t >= end) return;
    const among_equals<Reducer> equals{reducer_};
    stripes_.template chunks<stripes>(
        stripe_first(t), std::int64_t{tile}, t, end, 1u,
        [&](const registers<acc, stripes>& nodes, unsigned at) {
          const acc value =
              stripe_fold<stripes, cell, true, among_equals<Reducer>>(equals, 0, 0).fold(nodes);
          keep(across_warps<true>(equals, value, at, tile), at);
        });
  }

  /// The fold of the first `count` items of tile t.
  __device__ acc cut_tile(unsigned t, int count) const {
    const int left = detail::smaller(count - warp_ * warp_items, warp_items);
    slot<acc> value;
    if (left > 0) {
      warp_stack<Reducer> stack(reducer_);
#pragma unroll 1
      for (int done = 0; done < left; done += stripe.tile()) {
        stack.push(tile_fold<stripe, false, Source, Reducer>::fold(
            source_, reducer_, stripe_first(t) + done, detail::smaller(left - done, stripe.tile()),
            nullptr));
      }
      value.put(stack.value());
    }
    return across_warps<false>(reducer_, value.value, t, count);
  }

 private:
  // This warp's first item of tile t.
  __device__ __forceinline__ std::int64_t stripe_first(unsigned t) const {
    return std::int64_t{t} * tile + warp_ * warp_items;
  }

  // Two sets of values in turn, so that a barrier a tile is enough.
  template <bool Full, class AnyReducer>
  __device__ __forceinline__ acc across_warps(const AnyReducer& reducer, const acc& value,
                                              unsigned t, int count) const {
    return block_tree<num_warps, warp_items, Full, AnyReducer>::fold(
        reducer, value, __builtin_addressof(shared_.warp_values[t % 2][0].value), count);
  }

  const Source& source_;
  const Reducer& reducer_;
  shared_memory& shared_;
  const int warp_;
  const stripes_type stripes_;
};

/// One block's work in tiles of staged_shape_of, as tile_work (tile_kernel.cuh).
template <class Source, class Reducer, class Init, class Out>
class staged_tile_work {
  using acc = typename Reducer::accumulator;
  using fold_type = staged_fold_of_tiles<Source, Reducer>;
  static constexpr int tile = fold_type::tile;

 public:
  using grid_type = partials_fold<staged_shape_of<Source, Reducer>.nt, Reducer, Init, Out>;
  static constexpr int resident_blocks = staged_shape_of<Source, Reducer>.blocks;
  static constexpr bool starts_early = false;
  struct shared_memory : grid_type::shared_memory {
    typename fold_type::shared_memory stages;
  };

  const Source& source;
  const grid_type grid;
  std::int64_t n;

  __device__ __forceinline__ void run(const tile_shares& shares, scratch<acc> memory,
                                      shared_memory& shared) const {
    const fold_type fold(source, grid.reducer, shared.stages);
    const unsigned begin = shares.first(blockIdx.x);
    const unsigned end = shares.first(blockIdx.x + 1);
    const unsigned tiles = shares.first(gridDim.x);
    // Only the last tile of all lacks items, or the last two lack some that a whole fold overreads.
    const auto whole =
        static_cast<unsigned>(detail::larger(n - fold.overread_items(), std::int64_t{0}) / tile);
    fold.whole_tiles(begin, (min)(end, whole), [&](const acc& value, unsigned t) {
      grid.write_node(value, memory.partials + t, tiles);
    });
#pragma unroll 1
    for (unsigned t = (max)(begin, whole); t < end; ++t) {
      const std::int64_t left = n - std::int64_t{t} * tile;
      grid.write_node(fold.cut_tile(t, static_cast<int>((min)(left, std::int64_t{tile}))),
                      memory.partials + t, tiles);
    }
    grid.climb_from(memory, begin, end, tiles);
  }
};

}  // namespace tilefold::detail::cuda
