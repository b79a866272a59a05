// SPDX-License-Identifier: Apache-2.0
//
// Rows of one length, one after the other. Each is folded to a value, and each of its items goes
// out again, joined with that value by a function: log_softmax is x - logsumexp(its row).
//
//     items      are loaded once and stay in registers until they go out
//     packet     16 bytes of neighbours, lifted at once where the reducer can
//     chunk      rows of packets, here 4 of 4 lanes:  | p0 p1 p2 p3 | p4 .. p7 | p8 .. | p12 .. |
//
//     rows_by_lanes_kernel     4 to 32 lanes have a row, a chunk or two each; a warp has up to 8 rows
//     rows_by_blocks_kernel    a block has a row, a warp two chunks of it; or the blocks of a cluster
//                              have one, each an aligned slice, and read each other's values
//     rows_in_tiles_kernel     longer rows in the same way; a slice is many such tiles, and its items
//                              are loaded again to go out
//
// Nodes are those of every other fold (row_merge.cuh, block_tree.cuh), so the value has its bits.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/cluster.cuh>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/fold/block_tree.cuh>
#include <tilefold/detail/cuda/fold/row_merge.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/detail/cuda/load/shift.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/reducer.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// Neighbours that are loaded at once.
template <class T>
inline constexpr int row_packet = load_bytes / static_cast<int>(sizeof(T));

/// Rows of `length` items each, and where their items go. `aligned`: whole packets of all rows may
/// be loaded and stored at once.
template <class T, class Out>
struct rows_of_items {
  const T* items;
  Out* out;
  std::int64_t rows;
  std::int64_t length;
  bool aligned;
};

/// What one lane has of a row: `Chunks` times `Packets` packets, `Lanes` packets apart. `Full`
/// promises that all of them exist, in aligned memory.
template <int Lanes, int Packets, int Chunks, bool Full, class T, class Reducer>
class row_part {
  using acc = typename Reducer::accumulator;
  static constexpr int width = row_packet<T>;
  static constexpr int step = Lanes * width;
  static constexpr int chunk_items = Packets * step;
  using packet = packet_of<T, width>;

 public:
  // Of all lanes together.
  static constexpr int items = Chunks * chunk_items;

  /// Items from `first` on of a row of `length`.
  __device__ __forceinline__ row_part(const Reducer& reducer, const T* row, int first, int length,
                                      int lane, bool aligned)
      : reducer_(reducer), row_(row), first_(first), length_(length), lane_(lane) {
#pragma unroll
    for (int p = 0; p < Chunks * Packets; ++p) {
      if (Full || (aligned && is_whole(p))) {
        packets_[p] = *reinterpret_cast<const packet*>(row + at(p));
      } else {
        packet built{};
#pragma unroll
        for (int j = 0; j < width; ++j) {
          if (at(p) + j < length) cuda::insert_item<T>(built.word, j, row[at(p) + j]);
        }
        packets_[p] = built;
      }
    }
  }

  /// The node of all lanes' items, in each of them. Items from `first` on have to exist.
  __device__ __forceinline__ acc fold() const {
    slot<acc> node;
    node.put(chunk(0));
#pragma unroll
    for (int c = 1; c < Chunks; ++c) {
      // Uniform in the warp.
      if (!Full && first_ + c * chunk_items >= length_) break;
      const acc both = reducer_.combine(node.value, chunk(c));
      node.put(both);
    }
    return node.value;
  }

  /// Writes function(item, value) of each item to `out`, which is the row's.
  template <class Function, class Value, class Out>
  __device__ __forceinline__ void write(const Function& function, const Value& value, Out* out,
                                        bool aligned) const {
    struct items_out {
      Out item[width];
    };
    using packet_out = packet_of<Out, width>;
#pragma unroll
    for (int p = 0; p < Chunks * Packets; ++p) {
      if (Full || (aligned && is_whole(p))) {
        items_out joined;
#pragma unroll
        for (int j = 0; j < width; ++j) joined.item[j] = function(item(p, j), value);
        *reinterpret_cast<packet_out*>(out + at(p)) = __builtin_bit_cast(packet_out, joined);
      } else {
#pragma unroll
        for (int j = 0; j < width; ++j) {
          if (at(p) + j < length_) out[at(p) + j] = function(item(p, j), value);
        }
      }
    }
  }

 private:
  static_assert(Chunks <= 2, "the tree over chunks is that of two");

  __device__ __forceinline__ int at(int p) const { return first_ + p * step + lane_ * width; }
  __device__ __forceinline__ bool is_whole(int p) const { return at(p) + width <= length_; }
  __device__ __forceinline__ T item(int p, int j) const {
    return cuda::item_of<T, width>(packets_[p], j);
  }

  __device__ __forceinline__ acc lift(int p) const {
    T values[width];
#pragma unroll
    for (int j = 0; j < width; ++j) values[j] = item(p, j);
    return node_of(values);
  }

  // The node of neighbours.
  template <int N>
  __device__ __forceinline__ acc node_of(const T (&values)[N]) const {
    if constexpr (N == 1) {
      return reducer_.lift(values[0]);
    } else if constexpr (Reducer::lifts_packets) {
      return reducer_.lift_packet(values);
    } else {
      registers<acc, N> items;
#pragma unroll
      for (int j = 0; j < N; ++j) items.put(j, reducer_.lift(values[j]));
      return cuda::fold_packet<true>(reducer_, items, 0, N);
    }
  }

  __device__ __forceinline__ acc chunk(int c) const {
    registers<acc, Packets> nodes;
    int cut = -1;
#pragma unroll
    for (int p = 0; p < Packets; ++p) {
      if (Full || is_whole(c * Packets + p)) {
        nodes.put(p, lift(c * Packets + p));
      } else if (at(c * Packets + p) < length_) {
        cut = p;
      }
    }
    if (!Full && cut >= 0) {
      const int begin = at(c * Packets + cut);
      const acc node = cut_packet(row_ + begin, length_ - begin);
#pragma unroll
      for (int p = 0; p < Packets; ++p) {
        if (p == cut) nodes.put(p, node);
      }
    }
    return row_fold<Packets, width, Full, Reducer, Lanes>(reducer_, first_ + c * chunk_items,
                                                          length_, lane_)
        .fold(nodes);
  }

  // The node of n < width items: aligned blocks, joined from the right.
  __device__ acc cut_packet(const T* items, int n) const {
    slot<acc> node;
    bool there = (n & 1) != 0;
    if (there) node.put(reducer_.lift(items[n - 1]));
    if constexpr (width > 2) join_block<2>(items, n, node, there);
    if constexpr (width > 4) join_block<4>(items, n, node, there);
    if constexpr (width > 8) join_block<8>(items, n, node, there);
    return node.value;
  }
  template <int N>
  __device__ __forceinline__ void join_block(const T* items, int n, slot<acc>& node,
                                             bool& there) const {
    if ((n & N) == 0) return;
    T values[N];
#pragma unroll
    for (int j = 0; j < N; ++j) values[j] = items[(n & ~(2 * N - 1)) + j];
    const acc block = node_of(values);
    const acc joined = there ? reducer_.combine(block, node.value) : block;
    node.put(joined);
    there = true;
  }

  const Reducer& reducer_;
  const T* const row_;
  const int first_;
  const int length_;
  const int lane_;
  packet packets_[Chunks * Packets];
};

/// Rows of at most `items` items, each by `Lanes` lanes.
template <int Lanes, int Packets, int Chunks, bool Full, class T, class Out, class Reducer,
          class Function>
__device__ __forceinline__ void rows_by_lanes(const rows_of_items<T, Out>& all,
                                              const Reducer& reducer, const Function& function) {
  constexpr int rows_of_warp = warp_size / Lanes;
  const int lane = static_cast<int>(threadIdx.x) % Lanes;
  const int row_in_warp = static_cast<int>(threadIdx.x) % warp_size / Lanes;
  const int warps_of_block = static_cast<int>(blockDim.x) / warp_size;
  const std::int64_t warp =
      std::int64_t{blockIdx.x} * warps_of_block + static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t rows_at_once = std::int64_t{gridDim.x} * warps_of_block * rows_of_warp;
  for (std::int64_t first = warp * rows_of_warp; first < all.rows; first += rows_at_once) {
    // All lanes take part in every fold; those without a row in the last one again.
    const bool mine = first + row_in_warp < all.rows;
    const std::int64_t row = mine ? first + row_in_warp : all.rows - 1;
    const row_part<Lanes, Packets, Chunks, Full, T, Reducer> part(
        reducer, all.items + row * all.length, 0, static_cast<int>(all.length), lane, all.aligned);
    const auto value = reducer.project(part.fold());
    if (mine) part.write(function, value, all.out + row * all.length, all.aligned);
  }
}

template <class Build, int Lanes, int Packets, int Chunks, class T, class Out, class Reducer,
          class Function>
__global__ void __launch_bounds__(rows_nt, min_resident_rows_warps * warp_size / rows_nt)
    rows_by_lanes_kernel(rows_of_items<T, Out> all, Reducer reducer, Function function) {
  cuda::wait_for_previous_launch();
  if (all.aligned && all.length == row_part<Lanes, Packets, Chunks, true, T, Reducer>::items) {
    cuda::rows_by_lanes<Lanes, Packets, Chunks, true>(all, reducer, function);
  } else {
    cuda::rows_by_lanes<Lanes, Packets, Chunks, false>(all, reducer, function);
  }
}

/// A value of another block of the cluster, at the same place of its shared memory as mine.
template <class Acc>
__device__ __forceinline__ Acc value_of_block(const Acc& mine, int block) {
  words<Acc> w{};
#if __CUDA_ARCH__ >= 900
  unsigned place;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(place)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&mine))), "r"(block));
#pragma unroll
  for (int i = 0; i < words<Acc>::count; ++i) {
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(w.word[i]) : "r"(place + 4 * i) : "memory");
  }
#endif
  return from_words<Acc>(w);
}

__device__ __forceinline__ void arrive_in_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void wait_for_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/// What the warps of a block, and the blocks of a cluster, tell each other.
template <class Reducer>
struct row_exchange {
  using acc = typename Reducer::accumulator;

  slot<acc> of_warps[most_row_warps];
  slot<acc> of_block;
  typename Reducer::result value;
};

/// What a block knows of its row: `slices` blocks of a cluster have aligned slices of it.
template <class Reducer>
struct row_place {
  const Reducer& reducer;
  row_exchange<Reducer>& shared;
  int slice;
  int slices;

  __device__ __forceinline__ static int warp() { return static_cast<int>(threadIdx.x) / warp_size; }
  __device__ __forceinline__ static int warps() { return static_cast<int>(blockDim.x) / warp_size; }
  __device__ __forceinline__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
};

template <bool Full, class T, class Reducer>
using part_of_warp = row_part<warp_size, row_packets, row_chunks, Full, T, Reducer>;

/// The node of a tile of `count` items, of which each warp has a part, in the first warp.
template <bool Full, class Part, class Reducer>
__device__ __forceinline__ typename Reducer::accumulator fold_row_tile(
    const row_place<Reducer>& place, const Part& part, int count) {
  using acc = typename Reducer::accumulator;
  using tree = block_tree<most_row_warps, Part::items, Full, Reducer>;
  slot<acc> node;
  if (Full || place.warp() * Part::items < count) node.put(part.fold());
  return tree::fold(place.reducer, node.value, &place.shared.of_warps[0].value, count,
                    place.warps());
}

/// The projected node of `there` slices, of which the first warp has this block's; in all threads.
template <bool Full, class Reducer>
__device__ __forceinline__ typename Reducer::result row_value(
    const row_place<Reducer>& place, const typename Reducer::accumulator& of_slice, int there) {
  using acc = typename Reducer::accumulator;
  slot<acc> node;
  node.put(of_slice);
  if (place.slices > 1) {
    if (threadIdx.x == 0) place.shared.of_block.put(of_slice);
    cuda::arrive_in_cluster();
    cuda::wait_for_cluster();
    if (place.warp() == 0) {
      const int number = place.lane() % cluster_blocks;
      const acc other =
          cuda::value_of_block(place.shared.of_block.value, number < there ? number : 0);
      node.put(block_tree<cluster_blocks, 1, Full, Reducer>::fold_lanes(place.reducer, other, number,
                                                                        there, place.slices));
    }
    cuda::arrive_in_cluster();
  }
  if (place.warp() == 0) {
    const auto value = place.reducer.project(node.value);
    if (place.lane() == 0) place.shared.value = value;
  }
  __syncthreads();
  return place.shared.value;
}

/// No block of a cluster may leave while another reads its value.
template <class Reducer>
__device__ __forceinline__ void leave_row(const row_place<Reducer>& place) {
  if (place.slices > 1) cuda::wait_for_cluster();
}

template <bool Full, class T, class Out, class Reducer, class Function>
__device__ __forceinline__ void row_by_block(const rows_of_items<T, Out>& all, std::int64_t row,
                                             const row_place<Reducer>& place,
                                             const Function& function) {
  using part_type = part_of_warp<Full, T, Reducer>;
  const int slice_items = place.warps() * part_type::items;
  const auto length = static_cast<int>(all.length);
  const int first = place.slice * slice_items;
  const part_type part(place.reducer, all.items + row * length + first,
                       place.warp() * part_type::items, length - first, place.lane(), all.aligned);
  const auto of_slice = cuda::fold_row_tile<Full>(place, part, length - first);
  const auto value = cuda::row_value<Full>(
      place, of_slice, Full ? place.slices : static_cast<int>(tree::num_blocks(length, slice_items)));
  part.write(function, value, all.out + row * length + first, all.aligned);
  cuda::leave_row(place);
}

/// Rows of at most `slices` times what a block's warps have: a block each, or a cluster of `slices`
/// blocks.
template <class Build, class T, class Out, class Reducer, class Function>
__global__ void __launch_bounds__(most_row_warps* warp_size)
    rows_by_blocks_kernel(rows_of_items<T, Out> all, Reducer reducer, Function function,
                          int slices) {
  __shared__ row_exchange<Reducer> shared;
  cuda::wait_for_previous_launch();
  const row_place<Reducer> place{reducer, shared, static_cast<int>(blockIdx.x) % slices, slices};
  const std::int64_t row = static_cast<int>(blockIdx.x) / slices;
  if (all.aligned &&
      all.length == slices * place.warps() * part_of_warp<true, T, Reducer>::items) {
    cuda::row_by_block<true>(all, row, place, function);
  } else {
    cuda::row_by_block<false>(all, row, place, function);
  }
}

/// Rows of any length, in the same way: slices of `slice_items` items, a power of two and several
/// tiles.
template <class Build, class T, class Out, class Reducer, class Function>
__global__ void __launch_bounds__(most_row_warps* warp_size)
    rows_in_tiles_kernel(rows_of_items<T, Out> all, Reducer reducer, Function function, int slices,
                         std::int64_t slice_items) {
  using part_type = part_of_warp<false, T, Reducer>;
  __shared__ row_exchange<Reducer> shared;
  cuda::wait_for_previous_launch();
  const row_place<Reducer> place{reducer, shared, static_cast<int>(blockIdx.x) % slices, slices};
  const std::int64_t row = static_cast<int>(blockIdx.x) / slices;
  const std::int64_t first = place.slice * slice_items;
  const std::int64_t left = detail::smaller(all.length - first, slice_items);
  const std::int64_t tile_items = place.warps() * part_type::items;
  const T* const items = all.items + row * all.length + first;
  Out* const out = all.out + row * all.length + first;
  const auto tile_at = [&](std::int64_t at) {
    return part_type(reducer, items + at, place.warp() * part_type::items,
                     static_cast<int>(detail::smaller(left - at, tile_items)), place.lane(),
                     all.aligned);
  };
  warp_stack<Reducer> stack(reducer);
  for (std::int64_t at = 0; at < left; at += tile_items) {
    const auto node = cuda::fold_row_tile<false>(
        place, tile_at(at), static_cast<int>(detail::smaller(left - at, tile_items)));
    if (place.warp() == 0) stack.push(node);
    __syncthreads();  // of_warps are free again
  }
  slot<typename Reducer::accumulator> of_slice;
  if (place.warp() == 0 && left > 0) of_slice.put(stack.value());
  const auto value = cuda::row_value<false>(
      place, of_slice.value, static_cast<int>(tree::num_blocks(all.length, slice_items)));
  for (std::int64_t at = 0; at < left; at += tile_items) {
    tile_at(at).write(function, value, out + at, all.aligned);
  }
  cuda::leave_row(place);
}

}  // namespace tilefold::detail::cuda
