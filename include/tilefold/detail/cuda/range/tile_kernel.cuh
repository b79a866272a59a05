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
// Where accumulators are large, and of structs, tiles are staged (staged_tiles.cuh). A length that
// only the GPU knows is read by each block, which then finds its own tiles (launch_forest.cuh). A
// piece has several results (piece_tiles.cuh). A short range has a kernel of its own
// (short_kernel.cuh).
#pragma once

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>
#include <tilefold/detail/cuda/range/staged_tiles.cuh>

namespace tilefold::detail::cuda {

/// One block's work in tiles of packets.
template <tile_policy Policy, class Source, class Reducer, class Init, class Out>
class tile_work {
  using acc = typename Reducer::accumulator;
  using full_tile = tile_fold<Policy, true, Source, Reducer>;
  using ahead = tile_ahead<Policy, Source, Reducer>;
  using cut_tile = tile_fold<Policy, false, Source, Reducer>;

 public:
  using grid_type = partials_fold<Policy.nt, Reducer, Init, Out>;
  static constexpr int resident_blocks = min_resident_blocks(Policy.nt, sizeof(acc));
  static constexpr bool starts_early = true;
  using shared_memory = typename grid_type::shared_memory;

  const Source& source;
  const grid_type grid;
  std::int64_t n;

  __device__ __forceinline__ void run(const tile_shares& shares, scratch<acc> memory,
                                      shared_memory&) const {
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
      grid.write_node(
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
      grid.write_node(
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
          grid.write_node(ahead::fold(items, grid.reducer, grid.warp_values(at)), partials + at,
                          tiles);
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

/// A length of one or more that the host knows.
struct told_length {
  static constexpr bool may_be_zero = false;

  std::int64_t n;
  tile_shares dealt;

  __device__ __forceinline__ std::int64_t get() const { return n; }
  __device__ __forceinline__ const tile_shares& shares(std::int64_t, int) const { return dealt; }
};

/// A block's work in tiles of `Nt` threads and `Vt` items a thread, or staged.
template <class Length, int Nt, int Vt, bool Staged, class Source, class Reducer, class Init,
          class Out>
struct work_in_tiles
    : std::type_identity<
          std::conditional_t<Staged, staged_tile_work<Source, Reducer, Init, Out>,
                             tile_work<tile_policy{Nt, Vt}, Source, Reducer, Init, Out>>> {};

// The policy as two ints: nvcc 13.0 writes host code that does not compile for a kernel whose
// template argument is of class type.
template <class Build, int Nt, int Vt, bool Staged, class Length, class Source, class Reducer,
          class Init, class Out>
__global__ void __launch_bounds__(
    Nt, (work_in_tiles<Length, Nt, Vt, Staged, Source, Reducer, Init, Out>::type::resident_blocks))
    tile_kernel(Source source, Reducer reducer, Init init, Out out, Length length,
                scratch<typename Reducer::accumulator> memory) {
  using work = typename work_in_tiles<Length, Nt, Vt, Staged, Source, Reducer, Init, Out>::type;
  __shared__ typename work::shared_memory shared;
  if constexpr (work::starts_early) {
    cuda::wait_for_previous_launch();
  } else {
    cuda::refuse_flush_to_zero();
  }
  const auto& n = length.get();
  if constexpr (Length::may_be_zero) {
    if (n == 0) {
      if (blockIdx.x == 0 && threadIdx.x == 0) {
        cuda::write(out, detail::result_of_nothing(reducer, length.empty));
      }
      return;
    }
  }
  work{source, {reducer, init, out, shared}, n}.run(length.shares(n, Nt * Vt), memory, shared);
}

}  // namespace tilefold::detail::cuda
