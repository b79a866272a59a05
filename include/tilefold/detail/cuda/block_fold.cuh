// SPDX-License-Identifier: Apache-2.0
//
// The neighbour tree inside a block: a tile of nt * vt items is nt / 32 warp chunks in a row, each
// folded in registers, then their values through shared memory by the first warp.
#pragma once

#include <cstdint>
#include <iterator>
#include <utility>

#include <tilefold/detail/cuda/adaptor_load.cuh>
#include <tilefold/detail/cuda/tile_load.cuh>
#include <tilefold/detail/cuda/warp_fold.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

// Registers that one lane's pending rows may fill, in bytes; see shape_of.
inline constexpr int row_bytes_budget = 128;

/// How the vt items of a thread are cut: `chunks` times `rows` packets of `width` items.
struct tile_shape {
  int width;
  int rows;
  int chunks;
};

template <class Acc, std::size_t... Index, class... Its>
constexpr tile_shape shape_of(int vt, const source_of<std::index_sequence<Index...>, Its...>*) {
  const int width = packet_width<Its...>(vt);
  const int item_bytes = (item_bytes_of<Its> + ...);
  const int row_bytes = detail::larger(width * item_bytes, static_cast<int>(sizeof(Acc)));
  int rows = detail::smaller(vt / width, 16);
  while (rows > 1 && rows * row_bytes > row_bytes_budget) rows /= 2;
  return {width, rows, vt / (width * rows)};
}

/// Folds items [tile_first, tile_first + count) of `source`, count <= nt * vt. `Full` promises
/// count == nt * vt and that overreading (tile_load.cuh) stays inside the range. `warp_values` is
/// shared memory for nt / 32 values, free to use on entry. The result is valid in the first warp.
template <tile_policy Policy, bool Full, class Source, class Reducer>
class tile_fold {
  using acc = typename Reducer::accumulator;
  static constexpr tile_shape shape = shape_of<acc>(Policy.vt, static_cast<const Source*>(nullptr));
  static constexpr int row_items = warp_size * shape.width;
  static constexpr int chunk_items = shape.rows * row_items;
  static constexpr int warp_items = warp_size * Policy.vt;
  static constexpr int num_warps = Policy.nt / warp_size;

 public:
  /// Items past the tile's end that a full fold may touch.
  __device__ __forceinline__ static int overread_items(const Source& source) {
    return lane_rows<Source, shape.rows, shape.width>::overreads(source) ? shape.width : 0;
  }

  __device__ __forceinline__ static acc fold(const Source& source, const Reducer& reducer,
                                             std::int64_t tile_first, int count, acc* warp_values) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const tile_fold tile{source, reducer, tile_first, count};
    const acc value = tile.template chunks<shape.chunks>(warp * warp_items);
    if constexpr (num_warps == 1) {
      return value;
    } else {
      if (lane == 0) new (&warp_values[warp]) acc(value);
      __syncthreads();
      if (warp != 0) return value;
      return fold_warps(reducer, warp_values[lane % num_warps], lane % num_warps, count);
    }
  }

 private:
  __device__ tile_fold(const Source& source, const Reducer& reducer, std::int64_t tile_first,
                       int count)
      : source_(source), reducer_(reducer), tile_first_(tile_first), count_(count) {}

  // The node of N chunks from item `first` of the tile.
  template <int N>
  __device__ __forceinline__ acc chunks(int first) const {
    if constexpr (N == 1) {
      return chunk(first);
    } else {
      const acc left = chunks<N / 2>(first);
      const int right_first = first + N / 2 * chunk_items;
      // Uniform in the warp, so that the shuffles inside are met by all lanes or none.
      if (!Full && right_first >= count_) return left;
      return reducer_.combine(left, chunks<N / 2>(right_first));
    }
  }

  __device__ __forceinline__ acc chunk(int first) const {
    const int lane_first = first + static_cast<int>(threadIdx.x) % warp_size * shape.width;
    lane_rows<Source, shape.rows, shape.width> loaded;
    load(loaded, first, lane_first);
    registers<acc, shape.rows> rows;
#pragma unroll
    for (int r = 0; r < shape.rows; ++r) {
      const int item = lane_first + r * row_items;
      registers<acc, shape.width> items;
#pragma unroll
      for (int j = 0; j < shape.width; ++j) {
        if (Full || item + j < count_) items.put(j, loaded.lift(reducer_, r, j));
      }
      rows.put(r, cuda::fold_packet<Full>(reducer_, items, item, count_));
    }
    return row_fold<shape.rows, shape.width, Full, Reducer>(reducer_, first, count_).fold(rows);
  }

  // All loads before the first use, so that they are in flight together.
  __device__ __forceinline__ void load(lane_rows<Source, shape.rows, shape.width>& loaded,
                                       int first, int lane_first) const {
    if constexpr (Full) {
      loaded.load_rows(source_, tile_first_ + lane_first);
    } else {
#pragma unroll
      for (int r = 0; r < shape.rows; ++r) {
        const int offset = r * row_items;
        if (first + offset < count_) {  // uniform in the warp: the row is not wholly absent
          loaded.load_part(source_, tile_first_ + lane_first + offset, r,
                           count_ - lane_first - offset);
        }
      }
    }
  }

  // Lane `warp` (mod num_warps) holds that warp's node.
  __device__ __forceinline__ static acc fold_warps(const Reducer& reducer, const acc& value,
                                                   int warp, int count) {
    registers<acc, 1> node;
    node.put(0, value);
#pragma unroll
    for (int bit = 0; (1 << bit) < num_warps; ++bit) {
      const acc received = cuda::shuffle_xor(node[0], 1 << bit);
      node.put(0, cuda::combine_lanes<Full>(reducer, node[0], received, (warp >> bit) & 1,
                                            tree::right_half(warp, bit + 1) * warp_items, count));
    }
    return node[0];
  }

  const Source& source_;
  const Reducer& reducer_;
  const std::int64_t tile_first_;
  const int count_;
};

}  // namespace tilefold::detail::cuda
