// SPDX-License-Identifier: Apache-2.0
//
// The tile kernel for accumulators that are large for their items: between lanes they cost more
// than the items' loads, so a lane folds a long run of neighbours by itself. Runs come through
// shared memory, a row of 32 on its way while another is folded (warp_stage.cuh); of a row no more
// than a node a lane is kept, and the rows are merged as those of the tile kernel are.
#pragma once

#include <cstdint>

#include <tilefold/detail/bound_reducer.hpp>
#include <tilefold/detail/cuda/staged_fold.cuh>
#include <tilefold/detail/cuda/tile_kernel.cuh>
#include <tilefold/detail/cuda/warp_stage.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/forest.hpp>
#include <tilefold/policy.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// Neighbouring items that one lane folds by itself: what fits 32 banks.
constexpr int staged_run(int item_bytes) {
  return 1 << tree::floor_log2(detail::bounded(128 / item_bytes, 1, 32));
}
template <class Source>
inline constexpr int staged_run_items = staged_run(staged_bytes<Source>);

// Rows that a tile has for each warp: as many nodes does a lane keep.
inline constexpr int staged_rows = 4;
inline constexpr int staged_nt = 128;

constexpr tile_policy staged_policy_for(int run) { return {staged_nt, run * staged_rows}; }
template <class Source>
inline constexpr tile_policy staged_policy = staged_policy_for(staged_run_items<Source>);

// The nodes of a block's rows share its memory with the stages.
inline constexpr int most_staged_acc_bytes = 512;

/// Whether accumulators of `acc_bytes` bytes are large, and several times their items.
constexpr bool pays_to_stage(int item_bytes, std::int64_t acc_bytes) {
  return acc_bytes >= 16 && acc_bytes <= most_staged_acc_bytes && acc_bytes >= 2 * item_bytes &&
         staged_run(item_bytes) >= 8;
}

/// Whether the fold of a public reducer is staged.
template <class Source, class Reducer>
inline constexpr bool folds_staged = false;
template <class Source, class R, class Lift, class... Values>
inline constexpr bool folds_staged<Source, bound_reducer<R, Lift, Values...>> = pays_to_stage(
    staged_bytes<Source>, sizeof(typename bound_reducer<R, Lift, Values...>::accumulator));

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

/// Folds tiles of staged_policy<Source>; all threads of a block together.
template <class Source, class Reducer>
class staged_fold_of_tiles {
  using acc = typename Reducer::accumulator;
  static constexpr int run = staged_run_items<Source>;
  static constexpr int row_items = warp_size * run;
  static constexpr int warp_items = staged_rows * row_items;
  static constexpr int num_warps = staged_nt / warp_size;
  static constexpr int tile = staged_nt * run * staged_rows;
  static_assert(staged_rows == 4);
  using stage = warp_stage<Source, row_items>;

 public:
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

  /// Calls keep(value, t) for each tile t of [t, end), of which all items exist; the value is valid
  /// in the first warp.
  template <class Keep>
  __device__ __forceinline__ void whole_tiles(unsigned t, unsigned end, const Keep& keep) const {
    if (t >= end) return;
    stage* const stages = shared_.of_warp[warp_];
    stages[0].fill_row(row_source(t, 0));
#pragma unroll 1
    for (; t < end; ++t) {
      registers<acc, staged_rows> nodes;
#pragma unroll
      for (int r = 0; r < staged_rows; ++r) {
        const unsigned next = t + (r + 1) / staged_rows;
        if (r + 1 < staged_rows || next < end) {
          stages[(r + 1) % 2].fill_row(row_source(next, (r + 1) % staged_rows));
        } else {
          cuda::commit_stage();  // of nothing
        }
        cuda::finish_stage<1>();
        nodes.put(r, lane_node(stages[r % 2], row_source(t, r), row_first(t, r)));
      }
      const among_equals<Reducer> equals{reducer_};
      const acc value =
          row_fold<staged_rows, run, true, among_equals<Reducer>>(equals, 0, 0).fold(nodes);
      keep(across_warps<true>(equals, value, t, tile), t);
    }
  }

  /// The fold of the first `count` items of tile t.
  __device__ acc cut_tile(unsigned t, int count) const {
    stage& mine = shared_.of_warp[warp_][0];
    slot<acc> pending;
    slot<acc> value;
    const int left = detail::smaller(count - warp_ * warp_items, warp_items);
#pragma unroll 1
    for (int r = 0; r * row_items < left; ++r) {
      const int items = detail::smaller(left - r * row_items, row_items);
      mine.fill(row_source(t, r), items);
      cuda::finish_stage<0>();
      const Source source = row_source(t, r);
      const acc row = staged_fold<stage, Source, Reducer>{mine, source, reducer_, row_first(t, r)}(
          0, items, lane_, 5);
      // ((0 1) (2 3)): an odd row meets the one before, the last row of two pairs the first pair.
      if (r == 0) {
        value.put(row);
      } else if (r == 1) {
        value.put(reducer_.combine(value.value, row));
      } else if (r == 2) {
        pending.put(row);
      } else {
        pending.put(reducer_.combine(pending.value, row));
      }
    }
    if (left > 2 * row_items) value.put(reducer_.combine(value.value, pending.value));
    return across_warps<false>(reducer_, value.value, t, count);
  }

 private:
  __device__ __forceinline__ std::int64_t row_first(unsigned t, int r) const {
    return std::int64_t{t} * tile + warp_ * warp_items + r * row_items;
  }
  __device__ __forceinline__ Source row_source(unsigned t, int r) const {
    return detail::starting_at(source_, row_first(t, r));
  }

  // This lane's node of a row: packets, four at most, in a loop that stays one. All of a tile's
  // code must fit the instruction cache.
  __device__ __forceinline__ acc lane_node(const stage& from, const Source& source,
                                           std::int64_t row) const {
    constexpr int packet = detail::smaller(run, Reducer::long_combine ? 8 : 16);
    constexpr int packets = run / packet;
    static_assert(packets == 1 || packets == 2 || packets == 4);
    slot<acc> first;
    slot<acc> half;
    slot<acc> value;
#pragma unroll 1
    for (int p = 0; p < packets; ++p) {
      value.put(node<packet>(from, source, lane_ * run + p * packet, row));
      if (p % 2 == 0) {
        first.put(value.value);
      } else {
        value.put(reducer_.combine_equals(first.value, value.value));
        if (p == 1) half.put(value.value);
        if (p == 3) value.put(reducer_.combine_equals(half.value, value.value));
      }
    }
    return value.value;
  }

  // The node of N staged items from item i of a row on.
  template <int N>
  __device__ __forceinline__ acc node(const stage& from, const Source& source, int i,
                                      std::int64_t row) const {
    if constexpr (N == 1) {
      return from.lift(reducer_, source, i, row + i);
    } else {
      const acc left = node<N / 2>(from, source, i, row);
      return reducer_.combine_equals(left, node<N / 2>(from, source, i + N / 2, row));
    }
  }

  // Two sets of values in turn, so that a barrier a tile is enough.
  template <bool Full, class AnyReducer>
  __device__ __forceinline__ acc across_warps(const AnyReducer& reducer, const acc& value,
                                              unsigned t, int count) const {
    slot<acc>* const values = shared_.warp_values[t % 2];
    if (lane_ == 0) values[warp_].put(value);
    __syncthreads();
    if (warp_ != 0) return value;
    registers<acc, 1> mine;
    mine.put(0, values[lane_ % num_warps].value);
    return row_fold<1, warp_items, Full, AnyReducer, num_warps>(reducer, 0, count,
                                                                lane_ % num_warps)
        .fold(mine);
  }

  const Source& source_;
  const Reducer& reducer_;
  shared_memory& shared_;
  const int warp_;
  const int lane_;
};

/// Blocks of staged_nt threads that an SM shall hold: as many as their stages leave room for.
constexpr int min_resident_staged_blocks(std::size_t acc_bytes) { return acc_bytes > 64 ? 4 : 5; }

/// The tile kernel's work under staged_policy<Source>.
template <class Build, class Source, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(staged_nt,
                                  min_resident_staged_blocks(sizeof(typename Reducer::accumulator)))
    staged_kernel(Source source, Reducer reducer, Init init, Out out, std::int64_t n,
                  tile_shares shares, scratch<typename Reducer::accumulator> memory) {
  using acc = typename Reducer::accumulator;
  using fold_type = staged_fold_of_tiles<Source, Reducer>;
  using work_type = block_work<staged_policy<Source>, Source, Reducer, Init, Out>;
  __shared__ typename fold_type::shared_memory stages;
  __shared__ typename work_type::shared_memory shared;
  const work_type work{source, reducer, init, out, n, shared};
  const fold_type fold(source, reducer, stages);
  const unsigned begin = shares.first(blockIdx.x);
  const unsigned end = shares.first(blockIdx.x + 1);
  const unsigned tiles = shares.first(gridDim.x);
  constexpr int tile = staged_policy<Source>.tile();
  const auto whole = static_cast<unsigned>(n / tile);
  fold.whole_tiles(begin, min(end, whole), [&](const acc& value, unsigned t) {
    work.keep(value, memory.partials + t, tiles);
  });
  if (end > whole) {
    const int rest = static_cast<int>(n % tile);
    work.keep(fold.cut_tile(whole, rest), memory.partials + whole, tiles);
  }
  work.climb_from(memory, begin, end, tiles);
}

}  // namespace tilefold::detail::cuda
