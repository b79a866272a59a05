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
// Tiles of structs, and of items with large accumulators, are staged. A length that only the GPU
// knows is read by each block, which then finds its own tiles (launch_forest.cuh). A piece has
// several results (piece_tiles.cuh), and a short range a kernel of its own (short_kernel.cuh).
#pragma once

#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/staged_stripes.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>

namespace tilefold::detail::cuda {

// Staged tiles, where a lane better folds a cell of neighbours by itself (staged_stripes.cuh). A
// tile is cut as in tile_fold.cuh, with 128 threads here; a warp's part is a chunk of stripes of
// cells, of which a lane has a node each. stripe_fold makes one node of 4 stripes of 32 nodes, and
// the warps' nodes meet in shared memory. Of a cut tile, each warp folds its part stripe by stripe.

/// Folds tiles of staged_shape_of; all threads of a block together.
template <class Source, class Reducer>
class staged_fold_of_tiles {
  using acc = typename Reducer::accumulator;
  static constexpr staged_shape shape = staged_shape_of<Source, Reducer>;
  static constexpr int cell = shape.cell;
  static constexpr int stripes = shape.stripes;
  static constexpr int warp_items = stripes * warp_size * cell;
  static constexpr int num_warps = shape.nt / warp_size;
  // Of a warp in a cut tile. More items of a lane would need more registers than whole tiles do.
  static constexpr tile_policy cut_policy{warp_size, detail::smaller(cell, 8)};
  using stripes_type = staged_stripes<Source, Reducer>;

 public:
  static constexpr int tile = shape.policy().tile();

  struct shared_memory {
    typename stripes_type::stage of_warp[num_warps][2];
    slot<acc> warp_values[2][num_warps];
  };

  TILEFOLD_D staged_fold_of_tiles(const Source& source, const Reducer& reducer,
                                  shared_memory& shared)
      : source_(source),
        reducer_(reducer),
        shared_(shared),
        warp_(static_cast<int>(threadIdx.x) / warp_size),
        stripes_(source, reducer, shared.of_warp[warp_]) {}

  /// Items behind a tile that may be read with it.
  __device__ int overread_items() const { return stripes_.overread_items(); }

  /// Calls keep(value, t) for each whole tile t of [t, end); the value is valid in the first warp.
  template <class Keep>
  TILEFOLD_D void whole_tiles(unsigned t, unsigned end, const Keep& keep) const {
    if (t >= end) return;
    const among_equals<Reducer> equals{reducer_};
    stripes_.template chunks<stripes>(
        warp_first(t), std::int64_t{tile}, t, end, 1u,
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
      for (int done = 0; done < left; done += cut_policy.tile()) {
        stack.push(tile_fold<cut_policy, false, Source, Reducer>::fold(
            source_, reducer_, warp_first(t) + done,
            detail::smaller(left - done, cut_policy.tile()), nullptr));
      }
      value.put(stack.value());
    }
    return across_warps<false>(reducer_, value.value, t, count);
  }

 private:
  // This warp's first item of tile t.
  TILEFOLD_D std::int64_t warp_first(unsigned t) const {
    return std::int64_t{t} * tile + warp_ * warp_items;
  }

  // Two sets of values in turn, so that a barrier a tile is enough.
  template <bool Full, class AnyReducer>
  TILEFOLD_D acc across_warps(const AnyReducer& reducer, const acc& value, unsigned t,
                              int count) const {
    return block_tree<num_warps, warp_items, Full, AnyReducer>::fold(
        reducer, value, __builtin_addressof(shared_.warp_values[t % 2][0].value), count);
  }

  const Source& source_;
  const Reducer& reducer_;
  shared_memory& shared_;
  const int warp_;
  const stripes_type stripes_;
};

/// One block's work in staged tiles.
template <class Source, class Reducer, class Init, class Out>
class staged_tile_work {
  using acc = typename Reducer::accumulator;
  using fold_type = staged_fold_of_tiles<Source, Reducer>;
  static constexpr int tile = fold_type::tile;

 public:
  static constexpr tile_policy policy = staged_shape_of<Source, Reducer>.policy();
  using grid_type = partials_fold<policy.nt, Reducer, Init, Out>;
  static constexpr int resident_blocks = staged_shape_of<Source, Reducer>.blocks;
  static constexpr bool starts_early = false;
  struct shared_memory : grid_type::shared_memory {
    typename fold_type::shared_memory stages;
  };

  const Source& source;
  const grid_type grid;
  std::int64_t n;

  TILEFOLD_D void run(const tile_shares& shares, scratch<acc> memory, shared_memory& shared) const {
    const fold_type fold(source, grid.reducer, shared.stages);
    const unsigned begin = shares.first(blockIdx.x);
    const unsigned end = shares.first(blockIdx.x + 1);
    const unsigned tiles = shares.first(gridDim.x);
    const unsigned whole = fold_whole(fold, memory.partials, begin, end, tiles);
#pragma unroll 1
    for (unsigned t = (max)(begin, whole); t < end; ++t) {
      const std::int64_t left = n - std::int64_t{t} * tile;
      grid.write_node(fold.cut_tile(t, static_cast<int>((min)(left, std::int64_t{tile}))),
                      memory.partials + t, tiles);
    }
    grid.climb_from(memory, begin, end, tiles);
  }

  /// As of tile_work.
  TILEFOLD_D unsigned fold_whole_tiles(acc* partials, unsigned t, unsigned end, unsigned tiles,
                                       shared_memory& shared) const {
    const fold_type fold(source, grid.reducer, shared.stages);
    return (max)(t, (min)(end, fold_whole(fold, partials, t, end, tiles)));
  }

 private:
  // Returns the first of all tiles that is not whole: only the last tile of all lacks items, or the
  // last two lack some that a whole fold overreads.
  TILEFOLD_D unsigned fold_whole(const fold_type& fold, acc* partials, unsigned t, unsigned end,
                                 unsigned tiles) const {
    const auto whole =
        static_cast<unsigned>(detail::larger(n - fold.overread_items(), std::int64_t{0}) / tile);
    fold.whole_tiles(t, (min)(end, whole), [&](const acc& value, unsigned at) {
      grid.write_node(value, partials + at, tiles);
    });
    return whole;
  }
};

/// One block's work in tiles of packets.
template <tile_policy Policy, class Source, class Reducer, class Init, class Out>
class tile_work {
  using acc = typename Reducer::accumulator;
  using full_tile = tile_fold<Policy, true, Source, Reducer>;
  using ahead = tile_ahead<Policy, Source, Reducer>;
  using cut_tile = tile_fold<Policy, false, Source, Reducer>;

 public:
  static constexpr tile_policy policy = Policy;
  using grid_type = partials_fold<Policy.nt, Reducer, Init, Out>;
  static constexpr int resident_blocks = min_resident_blocks(Policy.nt, folded_bytes<Reducer>);
  static constexpr bool starts_early = true;
  using shared_memory = typename grid_type::shared_memory;

  const Source& source;
  const grid_type grid;
  std::int64_t n;

  TILEFOLD_D void run(const tile_shares& shares, scratch<acc> memory, shared_memory& shared) const {
    const unsigned begin = shares.first(blockIdx.x);
    const unsigned end = shares.first(blockIdx.x + 1);
    const unsigned tiles = shares.first(gridDim.x);
    // Only the last tile of all lacks items, or the last two lack items that a full fold overreads.
#pragma unroll 1
    for (unsigned t = fold_whole_tiles(memory.partials, begin, end, tiles, shared); t < end; ++t) {
      grid.write_node(
          cut_tile::fold(source, grid.reducer, first_item(t), items_in(t), grid.warp_values(t)),
          memory.partials + t, tiles);
    }
    grid.climb_from(memory, begin, end, tiles);
  }

  /// Folds tiles [t, end), as far as they are whole, each to its place among the partials of
  /// `tiles`. Returns the first that is not.
  TILEFOLD_D unsigned fold_whole_tiles(acc* partials, unsigned t, unsigned end, unsigned tiles,
                                       shared_memory&) const {
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
  // Returns the first tile that is not whole.
  TILEFOLD_D unsigned fold_tiles_ahead(acc* partials, unsigned t, unsigned end,
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

  TILEFOLD_D std::int64_t get() const { return n; }
  TILEFOLD_D const tile_shares& shares(std::int64_t, int) const { return dealt; }
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
