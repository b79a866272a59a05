// SPDX-License-Identifier: Apache-2.0
//
// One launch from items to the scalar. As many blocks as the GPU holds share the tiles evenly.
//
//     tiles       0   1   2   3 | 4   5   6 | 7   8   9     10 tiles of nt * vt items, 3 blocks
//                    block 0       block 1     block 2      each folds its tiles one by one
//     partials    0   1   2   3   4   5   6   7   8   9     one value a tile, in the workspace
//                 `-----.-----'   `-----.-----'   `-.-'     groups of 4 here, of 4 * nt in truth
//     partials          0               1           2       the last block to arrive folds a group
//                       `---------------+-----------'       (grid_tree.cuh): group 1 gets three
//     result                            0                   from block 1 and one from block 2
//
// A short range has a kernel of its own (short_kernel.cuh).
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/stream.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// One block's work.
template <tile_policy Policy, class Source, class Reducer, class Init, class Out>
class tile_work {
  using acc = typename Reducer::accumulator;
  using full_tile = tile_fold<Policy, true, Source, Reducer>;
  using ahead = tile_ahead<Policy, Source, Reducer>;
  using cut_tile = tile_fold<Policy, false, Source, Reducer>;

 public:
  using grid_type = grid_fold<Policy.nt, Reducer, Init, Out>;

  const Source& source;
  const grid_type grid;
  std::int64_t n;

  __device__ __forceinline__ void run(const tile_shares& shares, scratch<acc> memory) const {
    const unsigned begin = shares.first(blockIdx.x);
    const unsigned end = shares.first(blockIdx.x + 1);
    const unsigned tiles = shares.first(gridDim.x);
    fold_tiles(memory.partials, begin, end, tiles);
    grid.climb_from(memory, begin, end, tiles);
  }

  /// Folds tiles [t, end), as far as they are whole, each to its place among the partials of
  /// `tiles`. Returns the first that is not.
  __device__ __forceinline__ unsigned fold_whole_tiles(acc* partials, unsigned t, unsigned end,
                                                       unsigned tiles) const {
    if constexpr (ahead::pays) {
      if (full_tile::overread_items(source) == 0) t = fold_tiles_ahead(partials, t, end, tiles);
    }
#pragma unroll 1
    for (; t < end && is_whole(t); ++t) {
      grid.keep(
          full_tile::fold(source, grid.reducer, first_item(t), Policy.tile(), grid.warp_values(t)),
          partials + t, tiles);
    }
    return t;
  }

 private:
  // Only the last tile of all lacks items, or the last two lack some that a full fold overreads.
  __device__ __forceinline__ void fold_tiles(acc* partials, unsigned t, unsigned end,
                                             unsigned tiles) const {
    t = fold_whole_tiles(partials, t, end, tiles);
#pragma unroll 1
    for (; t < end; ++t) {
      grid.keep(
          cut_tile::fold(source, grid.reducer, first_item(t), items_in(t), grid.warp_values(t)),
          partials + t, tiles);
    }
  }

  // Returns the first tile that is not whole.
  __device__ __forceinline__ unsigned fold_tiles_ahead(acc* partials, unsigned t, unsigned end,
                                                       unsigned tiles) const {
    if (t == end || !is_whole(t)) return t;
    return cuda::stream_ahead<typename ahead::items>(
        t, [&](unsigned& next) { return ++next < end && is_whole(next); },
        [&](unsigned at) {
          typename ahead::items items;
          ahead::load(items, source, first_item(at));
          return items;
        },
        [&](const auto& items, unsigned at) {
          grid.keep(ahead::fold(items, grid.reducer, grid.warp_values(at)), partials + at, tiles);
        });
  }

  __device__ bool is_whole(unsigned t) const {
    return first_item(t + 1) + full_tile::overread_items(source) <= n;
  }
  __device__ static std::int64_t first_item(unsigned t) { return std::int64_t{t} * Policy.tile(); }
  __device__ int items_in(unsigned t) const {
    return static_cast<int>((min)(n - first_item(t), std::int64_t{Policy.tile()}));
  }
};

// The policy as two ints: nvcc 13.0 writes host code that does not compile for a kernel whose
// template argument is of class type.
template <class Build, int Nt, int Vt, class Source, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(Nt,
                                  min_resident_blocks(Nt, sizeof(typename Reducer::accumulator)))
    tile_kernel(Source source, Reducer reducer, Init init, Out out, std::int64_t n,
                tile_shares shares, scratch<typename Reducer::accumulator> memory) {
  using work = tile_work<tile_policy{Nt, Vt}, Source, Reducer, Init, Out>;
  __shared__ typename work::grid_type::shared_memory shared;
  cuda::wait_for_previous_launch();
  work{source, {reducer, init, out, shared}, n}.run(shares, memory);
}

}  // namespace tilefold::detail::cuda
