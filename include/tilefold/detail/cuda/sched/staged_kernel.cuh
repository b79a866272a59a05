// SPDX-License-Identifier: Apache-2.0
//
// The tile kernel for accumulators that are large for their items, and for structs. To move them
// between lanes costs more than to load items, so a lane folds a run of neighbours by itself:
//
//     tile     |   warp 0   |   warp 1   |   warp 2   |   warp 3   |    128 threads
//     warp     | row 0 | row 1 | row 2 | row 3 |
//     row      | lane 0: a run | lane 1: a run | ... | lane 31: a run |    128 bytes: of floats 32,
//                                                                          of 64-byte structs two
//                                  |
//     shared   [ row r: folded ] [ row r + 1: on its way ]     two stages a warp (load/staged.cuh)
//     lane     one node of each row, in registers
//     warp     row_fold (row_merge.cuh) makes one node of 4 rows of 32 nodes
//     block    the warps' nodes meet in shared memory: a partial a tile, as in grid_tree.cuh
//
// In a tile that is cut off, each warp folds its part as it folds a tree (tree_by_warp.cuh).
#pragma once

#include <cstdint>

#include <tilefold/detail/bound_reducer.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/fold/block_tree.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/lane_tree.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/detail/cuda/load/staged.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/forest.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// Whether items are structs that lie in memory as whole words.
template <class Source>
inline constexpr bool holds_structs = false;
template <class T>
inline constexpr bool holds_structs<source_of<std::index_sequence<0>, T*>> =
    loads_packets<T*> && sizeof(T) % 4 == 0 && alignof(T) % 4 == 0;

/// Whether a fold in the fixed order is staged: that of a public reducer with large accumulators,
/// and that of structs.
template <class Source, class Reducer>
inline constexpr bool stages_reducer = false;
template <class Source, class R, class Lift, class... Values>
inline constexpr bool stages_reducer<Source, bound_reducer<R, Lift, Values...>> =
    pays_to_stage_reducer(staged_bytes<Source>,
                          sizeof(typename bound_reducer<R, Lift, Values...>::accumulator));
template <class Source, class Reducer>
inline constexpr bool stages_structs =
    holds_structs<Source> &&
    pays_to_stage_structs(staged_bytes<Source>, sizeof(typename Reducer::accumulator));

template <class Source, class Reducer>
inline constexpr staged_shape staged_shape_of =
    staged_shape_for(staged_bytes<Source>, sizeof(typename Reducer::accumulator));

/// The reducer among nodes of equally many items, a power of two.
template <class Reducer>
struct among_equals {
  using accumulator = typename Reducer::accumulator;
  static constexpr bool commutative = Reducer::commutative || Reducer::commutative_among_equals;
  const Reducer& reducer;

  __device__ __forceinline__ accumulator combine(const accumulator& a, const accumulator& b) const {
    return reducer.combine_equals(a, b);
  }
};

/// Folds tiles of staged_shape_of; all threads of a block together.
template <class Source, class Reducer>
class staged_fold_of_tiles {
  using acc = typename Reducer::accumulator;
  static constexpr staged_shape shape = staged_shape_of<Source, Reducer>;
  static constexpr int run = shape.run;
  static constexpr int rows = shape.rows;
  static constexpr int row_items = warp_size * run;
  static constexpr int warp_items = rows * row_items;
  static constexpr int num_warps = shape.nt / warp_size;
  // Of a cut tile; less code than all of a run unrolled.
  static constexpr bool by_packets = stretch_items<Source> >= 8;
  static constexpr int packet = detail::smaller(run, staged_packet(Reducer::long_combine));
  static constexpr int unrolled = staged_rows_unrolled(sizeof(acc));
  static_assert(rows % 2 == 0);  // stages take turns
  using stage = lane_stage<Source, run>;

 public:
  static constexpr int tile = shape.policy().tile();

  struct shared_memory {
    stage of_warp[num_warps][2];
    slot<acc> warp_values[2][num_warps];
  };

  __device__ __forceinline__ staged_fold_of_tiles(const Source& source, const Reducer& reducer,
                                                  shared_memory& shared)
      : source_(source),
        reducer_(reducer),
        shared_(shared),
        warp_(static_cast<int>(threadIdx.x) / warp_size),
        lane_(static_cast<int>(threadIdx.x) % warp_size) {}

  /// Items behind a tile that may be read with it.
  __device__ int overread_items() const { return stage::overread_items(source_); }

  /// Calls keep(value, t) for each tile t of [t, end), of which all items exist; the value is valid
  /// in the first warp.
  template <class Keep>
  __device__ __forceinline__ void whole_tiles(unsigned t, unsigned end, const Keep& keep) const {
    if (t >= end) return;
    stage* const stages = shared_.of_warp[warp_];
    const among_equals<Reducer> equals{reducer_};
    std::int64_t first = row_first(t, 0);
    stages[0].fill(detail::starting_at(source_, first));
#pragma unroll 1
    for (; t < end; ++t) {
      registers<acc, rows> nodes;
#pragma unroll unrolled
      for (int r = 0; r < rows; ++r) {
        const bool ends_tile = r + 1 == rows;
        const std::int64_t next = first + (ends_tile ? tile - warp_items + row_items : row_items);
        if (!ends_tile || t + 1 < end) {
          stages[(r + 1) % 2].fill(detail::starting_at(source_, next));
        } else {
          cuda::commit_stage();  // of nothing
        }
        cuda::finish_stage<1>();
        // The nodes move down by one place. The loop over rows is not fully unrolled, so a register
        // cannot be chosen by r.
#pragma unroll
        for (int k = 1; k < rows; ++k) nodes.put(k - 1, nodes[k]);
        nodes.put(rows - 1, lane_node(stages[r % 2], detail::starting_at(source_, first),
                                      first + lane_ * run));
        first = next;
      }
      const acc value = row_fold<rows, run, true, among_equals<Reducer>>(equals, 0, 0).fold(nodes);
      keep(across_warps<true>(equals, value, t, tile), t);
    }
  }

  /// The fold of the first `count` items of tile t.
  __device__ acc cut_tile(unsigned t, int count) const {
    const int left = detail::smaller(count - warp_ * warp_items, warp_items);
    slot<acc> value;
    if (left > 0) {
      value.put(cuda::fold_stretches_by_warp<Source, Reducer, by_packets>(
          source_, reducer_, row_first(t, 0), left, std::int64_t{t} * tile + count));
    }
    return across_warps<false>(reducer_, value.value, t, count);
  }

 private:
  __device__ __forceinline__ std::int64_t row_first(unsigned t, int r) const {
    return std::int64_t{t} * tile + warp_ * warp_items + r * row_items;
  }

  // The node of this lane's run, in packets; its first is item `index` of the tree.
  __device__ __forceinline__ acc lane_node(const stage& from, const Source& source,
                                           std::int64_t index) const {
    return lane_tree<acc>::template whole<run / packet>(
        0,
        [&](int k) {
          return from.template packets<packet>(
              [&](const auto&... items) { return packet_node(items...); }, source, k * packet,
              index + k * packet);
        },
        [&](const acc& a, const acc& b) { return reducer_.combine_equals(a, b); });
  }

  // The node of a packet of elements, of which each iterator brings its items.
  template <class... Items>
  __device__ __forceinline__ acc packet_node(const Items&... items) const {
    if constexpr (Reducer::lifts_packets) {
      return lift_packet(items...);
    } else {
      return lane_tree<acc>::template whole<packet>(
          0, [&](int i) { return reducer_.lift(items[i]...); },
          [&](const acc& a, const acc& b) { return reducer_.combine_equals(a, b); });
    }
  }
  template <class T>
  __device__ __forceinline__ acc lift_packet(const registers<T, packet>& items) const {
    T values[packet];
#pragma unroll
    for (int j = 0; j < packet; ++j) values[j] = items[j];
    return reducer_.lift_packet(values);
  }

  // Two sets of values in turn, so that a barrier a tile is enough.
  template <bool Full, class AnyReducer>
  __device__ __forceinline__ acc across_warps(const AnyReducer& reducer, const acc& value,
                                              unsigned t, int count) const {
    return block_tree<num_warps, warp_items, Full, AnyReducer>::fold(
        reducer, value, &shared_.warp_values[t % 2][0].value, count);
  }

  const Source& source_;
  const Reducer& reducer_;
  shared_memory& shared_;
  const int warp_;
  const int lane_;
};

/// The tile kernel's work in tiles of staged_shape_of.
template <class Build, class Source, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(staged_shape_of<Source, Reducer>.nt,
                                  staged_shape_of<Source, Reducer>.blocks)
    staged_kernel(Source source, Reducer reducer, Init init, Out out, std::int64_t n,
                  tile_shares shares, scratch<typename Reducer::accumulator> memory) {
  using acc = typename Reducer::accumulator;
  using fold_type = staged_fold_of_tiles<Source, Reducer>;
  using grid_type = grid_fold<staged_shape_of<Source, Reducer>.nt, Reducer, Init, Out>;
  __shared__ typename fold_type::shared_memory stages;
  __shared__ typename grid_type::shared_memory shared;
  cuda::refuse_flush_to_zero();
  const grid_type grid{reducer, init, out, shared};
  const fold_type fold(source, reducer, stages);
  const unsigned begin = shares.first(blockIdx.x);
  const unsigned end = shares.first(blockIdx.x + 1);
  const unsigned tiles = shares.first(gridDim.x);
  constexpr int tile = fold_type::tile;
  // Only the last tile of all lacks items, or the last two lack some that a whole fold overreads.
  const auto whole =
      static_cast<unsigned>(detail::larger(n - fold.overread_items(), std::int64_t{0}) / tile);
  fold.whole_tiles(begin, min(end, whole), [&](const acc& value, unsigned t) {
    grid.keep(value, memory.partials + t, tiles);
  });
#pragma unroll 1
  for (unsigned t = max(begin, whole); t < end; ++t) {
    const std::int64_t left = n - std::int64_t{t} * tile;
    grid.keep(fold.cut_tile(t, static_cast<int>(min(left, std::int64_t{tile}))),
              memory.partials + t, tiles);
  }
  grid.climb_from(memory, begin, end, tiles);
}

}  // namespace tilefold::detail::cuda
