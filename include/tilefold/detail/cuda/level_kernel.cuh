// SPDX-License-Identifier: Apache-2.0
//
// Trees of 2^k items, one after the other, are the nodes of level k of the neighbour tree over all
// of them: a fold that stops half way, and writes what it has. Every warp reads tiles as reduce()
// does, in rows of 16 bytes a lane.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/tile_kernel.cuh>
#include <tilefold/detail/cuda/warp_tree.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// One warp's work.
template <class Source, class Reducer, class Init, class Out>
class level_work {
  using acc = typename Reducer::accumulator;
  // Twice what a tile has: a warp by itself writes nodes while none of its loads are under way.
  static constexpr int vt = 2 * warp_policy<Source>.vt;
  static constexpr tile_shape shape = shape_of<acc>(vt, static_cast<const Source*>(nullptr));
  static constexpr int row_items = warp_size * shape.width;
  static constexpr int width_bits = tree::floor_log2(shape.width);

 public:
  // Items of a chunk, whose rows are in registers together.
  static constexpr int chunk_items = shape.rows * row_items;

  const Source& source;
  const Reducer& reducer;
  const Init& init;
  const Out& out;
  std::int64_t n;  // items of all trees

  /// Writes the nodes of level `level`, of no more items than a chunk, of chunk `c`.
  __device__ __forceinline__ void fold_chunk(std::int64_t c, int level) const {
    const std::int64_t first = c * chunk_items;
    const auto write_node = [&](int node, const acc& value) {
      cuda::write(out + ((first >> level) + node), detail::finish(reducer, init, value));
    };
    if (first + chunk_items + overread() <= n) {
      nodes<true>(first, chunk_items, level, write_node);
    } else {
      nodes<false>(first, static_cast<int>(detail::smaller(n - first, std::int64_t{chunk_items})),
                   level, write_node);
    }
  }

 private:
  using loaded_rows = lane_rows<Source, shape.rows, shape.width>;

  __device__ __forceinline__ int overread() const {
    return loaded_rows::overreads(source) ? shape.width : 0;
  }

  // Calls keep(node, value) for every node of `level` among the `count` items from `first` on.
  template <bool Full, class Keep>
  __device__ __forceinline__ void nodes(std::int64_t first, int count, int level,
                                        const Keep& keep) const {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    loaded_rows loaded;
    load<Full>(loaded, first, count, lane);
    registers<acc, shape.rows> rows;
#pragma unroll
    for (int r = 0; r < shape.rows; ++r) {
      const int item = r * row_items + lane * shape.width;
      registers<acc, shape.width> items;
#pragma unroll
      for (int j = 0; j < shape.width; ++j) {
        if (Full || item + j < count) items.put(j, loaded.lift(reducer, r, j));
      }
      if (level < width_bits) {
        packet_nodes<Full>(items, item, count, level, keep);
      } else {
        rows.put(r, cuda::fold_packet<Full>(reducer, items, item, count));
      }
    }
    if (level < width_bits) return;
    row_fold<shape.rows, shape.width, Full, Reducer>(reducer, 0, count)
        .nodes(rows, level - width_bits, keep);
  }

  template <bool Full>
  __device__ __forceinline__ void load(loaded_rows& loaded, std::int64_t first, int count,
                                       int lane) const {
    const std::int64_t lane_first = first + lane * shape.width;
    if constexpr (Full) {
      loaded.load_rows(source, lane_first);
    } else {
#pragma unroll
      for (int r = 0; r < shape.rows; ++r) {
        loaded.load_part(source, lane_first + r * row_items, r,
                         count - lane * shape.width - r * row_items);
      }
    }
  }

  // The nodes of a level below that of a packet, which starts at item `first`.
  template <bool Full, class Keep>
  __device__ __forceinline__ void packet_nodes(registers<acc, shape.width>& items, int first,
                                               int count, int level, const Keep& keep) const {
    int node_level = 0;
#pragma unroll
    for (int step = 1; step < shape.width; step *= 2, ++node_level) {
      if (node_level == level) {
#pragma unroll
        for (int j = 0; j < shape.width; j += step) {
          if (Full || first + j < count) keep((first + j) >> level, items[j]);
        }
        return;
      }
#pragma unroll
      for (int j = 0; j < shape.width; j += 2 * step) {
        items.put(j,
                  cuda::combine<Full>(reducer, items[j], items[j + step], first + j + step, count));
      }
    }
  }
};

inline constexpr int level_nt = 256;

/// Folds trees of 2^level items each, `n` in all; no more than chunk_items.
template <class Build, class Source, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(level_nt, sizeof(typename Reducer::accumulator) > 8 ? 2 : 3)
    level_kernel(Source source, Reducer reducer, Init init, Out out, std::int64_t n, int level) {
  using work_type = level_work<Source, Reducer, Init, Out>;
  const work_type work{source, reducer, init, out, n};
  const int warps_per_block = static_cast<int>(blockDim.x) / warp_size;
  const std::int64_t warp =
      std::int64_t{blockIdx.x} * warps_per_block + static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t warps = std::int64_t{gridDim.x} * warps_per_block;
  const std::int64_t chunks = tree::num_blocks(n, work_type::chunk_items);
  for (std::int64_t c = warp; c < chunks; c += warps) work.fold_chunk(c, level);
}

}  // namespace tilefold::detail::cuda
