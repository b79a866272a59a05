// SPDX-License-Identifier: Apache-2.0
//
// Rows of one length, one after the other. Each is folded to a value, and each of its items goes
// out again, joined with that value by a function: log_softmax is x - logsumexp(its row).
//
//     items      are loaded once and stay in registers until they go out
//     packet     16 bytes of neighbours, lifted at once where the reducer can
//     chunk      4 packets of 4 lanes here:  | p0 p1 p2 p3 | p4 .. p7 | p8 .. | p12 .. |
//
//     rows_by_lanes_kernel     4 to 32 lanes have a row, a chunk each; so a warp has up to 8 rows
//     rows_by_blocks_kernel    a block has a row, a warp two chunks of it; or a cluster has one,
//                              each block an aligned slice, and blocks read each other's values;
//                              a slice of a longer row is many such tiles, which are loaded again
//                              to go out
//
// Nodes are those of every other fold (stripe_merge.cuh): the value has its bits.
#pragma once

#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/detail/cuda/load/shift.cuh>
#include <tilefold/reducers/log_sum_exp.hpp>

namespace tilefold::detail::cuda {

/// Threads of a block whose warps have rows.
inline constexpr int rows_nt = 128;
/// Packets that a lane has at once: with 32 narrow items they leave registers. Half as many in the
/// shortest rows, twice as many in the longest ones of a warp.
constexpr int row_packets_of_lane(std::size_t item_bytes) { return item_bytes <= 2 ? 2 : 4; }
/// Warps that an SM shall hold, of rows of so many lanes and packets of a lane.
constexpr int resident_rows_warps(int lanes, int packets, std::size_t item_bytes) {
  if (packets > row_packets_of_lane(item_bytes)) return 20;
  return item_bytes <= 2 && lanes > 4 ? 32 : 24;
}
/// Of a row by a block: packets of a lane at once, how often, and warps at most.
inline constexpr int row_packets = 4;
inline constexpr int row_chunks = 2;
inline constexpr int most_row_warps = 32;
/// A block has so many warps of a row before a cluster takes it; of few rows, fewer.
inline constexpr int most_warps_of_one_block = 16;
inline constexpr int least_warps_of_slices = 4;

/// Neighbours that are loaded at once.
template <class T>
inline constexpr int row_packet = load_bytes / static_cast<int>(sizeof(T));

/// Rows of `length` items each, and where their items go. `aligned`: rows begin at multiples of 16
/// bytes there and here, and consist of whole packets.
template <class T, class Out>
struct rows_of_items {
  const T* items;
  Out* out;
  std::int64_t rows;
  std::int64_t length;
  bool aligned;
};

/// Whether neighbours are summed up as doubles in units of their greatest (log_sum_exp.hpp).
template <class Reducer>
using ways_of = ways<std::remove_cvref_t<decltype(std::declval<Reducer>().reducer)>>;
template <class Reducer, class T>
concept sums_near = exact_in_float<T> && requires { typename ways_of<Reducer>::near; };

/// Their tree, as stripe_fold wants it.
struct near_sum {
  using accumulator = double;
  static constexpr bool commutative = true;

  TILEFOLD_D double combine(double a, double b) const { return rounded_sum(a, b); }
};

/// Items [first, first + Width) of a row of `length` items, and `missing` where it has none. In
/// code of its own, as what follows: it would take registers of rows that begin at whole packets.
template <class T, int Width>
__device__ TILEFOLD_APART packet_of<T, Width> packet_of_items(const T* row, int first, int length,
                                                              T missing) {
  packet_of<T, Width> built{};
#pragma unroll
  for (int j = 0; j < Width; ++j) {
    const int i = first + j;
    cuda::insert_item<T>(built.word, j, i >= 0 && i < length ? row[i] : missing);
  }
  return built;
}

/// What one lane has of a row: `Chunks` times `Packets` packets, `Lanes` packets apart.
template <int Lanes, int Packets, int Chunks, class T, class Reducer>
class row_part {
  using acc = typename Reducer::accumulator;
  static constexpr int width = row_packet<T>;
  static constexpr int step = Lanes * width;
  static constexpr int chunk_items = Packets * step;
  using packet = packet_of<T, width>;

 public:
  // Items of all lanes together.
  static constexpr int items = Chunks * chunk_items;

  /// Items from `first` on of a row of `length`.
  TILEFOLD_D row_part(const Reducer& reducer, const T* row, int first, int length, int lane,
                      bool aligned)
      : reducer_(reducer),
        row_(row),
        first_(first),
        length_(length),
        lane_(lane),
        aligned_(aligned),
        whole_(aligned && first + items <= length) {
    load();
  }

  /// The node of all lanes' items, in each of them. Items from `first` on have to exist.
  TILEFOLD_D acc fold() {
    if constexpr (sums_near<Reducer, T>) {
      using near = typename ways_of<Reducer>::near;
      const float max = greatest();
      forget_what_is_made_of(0);
      // Decided by the warp, since lanes of all its rows exchange nodes together.
      if (__all_sync(full_warp, near::is_near(max))) return sum_near(max);
      const acc node = fold_again(reducer_, row_, first_, length_, lane_);
      load();  // kept through the call, items would take the registers of all that is before it
      return node;
    } else {
      return fold_nodes();
    }
  }

  /// Writes function(item, value) of each item to `out`, which is the row's.
  template <class Function, class Value, class Out>
  TILEFOLD_D void write(const Function& function, const Value& value, Out* out) {
    if (!whole_) {
      write_from_memory(row_, first_, length_, lane_, function, value, out);
      return;
    }
#pragma unroll
    for (int p = 0; p < Chunks * Packets; ++p) {
      forget_what_is_made_of(p);
      write_packet(packets_[p], function, value, packet_at(out, p));
    }
  }

 private:
  static_assert(Chunks <= 2, "the tree over chunks is that of two");

  TILEFOLD_D int at(int p) const { return first_ + p * step + lane_ * width; }
  // Packet p of a row that begins at `row`. A block's row has one address for all threads, so 32
  // bits of distance tell them apart. Other rows have each their own, and packets constant
  // distances.
  template <class Item>
  TILEFOLD_D Item* packet_at(Item* row, int p) const {
    if constexpr (Chunks > 1) {
      return row + at(p);
    } else {
      return row + first_ + lane_ * width + p * step;
    }
  }
  TILEFOLD_D T item(int p, int j) const { return item(packets_[p], j); }
  TILEFOLD_D static T item(const packet& from, int j) {
    if constexpr (sizeof(T) == 2) {
      // By words: a struct of all items would take a register an item.
      const unsigned word = from.word[j / 2];
      return __builtin_bit_cast(T, static_cast<std::uint16_t>(j % 2 == 0 ? word : word >> 16));
    } else {
      return cuda::item_of<T, width>(from, j);
    }
  }
  TILEFOLD_D void load() {
    if (whole_) {
#pragma unroll
      for (int p = 0; p < Chunks * Packets; ++p) {
        packets_[p] = *reinterpret_cast<const packet*>(packet_at(row_, p));
      }
    } else if (aligned_) {
      // Each packet is there or not.
#pragma unroll
      for (int p = 0; p < Chunks * Packets; ++p) {
        packets_[p] = at(p) < length_ ? *reinterpret_cast<const packet*>(packet_at(row_, p))
                                      : packet_of_missing();
      }
    } else if constexpr (alignof(T) == sizeof(T) && sizeof(T) < 8) {
      load_shifted();
    } else {
#pragma unroll
      for (int p = 0; p < Chunks * Packets; ++p) {
        packets_[p] = packet_of_items<T, width>(row_, at(p), length_, missing());
      }
    }
  }

  // A row that begins between two multiples of 16 bytes, `before` items behind the first one:
  //
  //     loaded     [. . 0 1] [2 3 4 5] [6 7 8 9]     aligned vectors, one a lane
  //     packets    [0 1 2 3] [4 5 6 7]  ...          the rest comes from lane + 1; the last lane's
  //                                                  from lane 0, which has the next packet
  TILEFOLD_D void load_shifted() {
    const unsigned offset = cuda::misalignment(row_ + first_);
    const int before = static_cast<int>(offset / sizeof(T));
#pragma unroll
    for (int p = 0; p < Chunks * Packets; ++p) packets_[p] = vector_at(at(p) - before);
    packet after = packet_of_missing();
    if (lane_ == 0 && offset != 0) after = vector_at(first_ + items - before);
    // The vector in which the row ends, which may be the last bytes that there are.
#pragma unroll
    for (int p = 0; p < Chunks * Packets; ++p) complete(packets_[p], at(p) - before);
    if (lane_ == 0 && offset != 0) complete(after, first_ + items - before);
    if (!__any_sync(full_warp, offset != 0)) return;
#pragma unroll
    for (int p = 0; p < Chunks * Packets; ++p) {
      unsigned both[2 * load_bytes / 4];
#pragma unroll
      for (int i = 0; i < load_bytes / 4; ++i) {
        const unsigned next = p + 1 < Chunks * Packets
                                  ? packets_[(p + 1) % (Chunks * Packets)].word[i]
                                  : after.word[i];
        both[i] = packets_[p].word[i];
        both[i + load_bytes / 4] =
            __shfl_sync(full_warp, lane_ == 0 ? next : both[i], (lane_ + 1) % Lanes, Lanes);
      }
      cuda::shift_down<alignof(T), load_bytes / 4>(both, offset);
#pragma unroll
      for (int i = 0; i < load_bytes / 4; ++i) packets_[p].word[i] = both[i];
    }
  }
  // Two halves of a load, so that all lanes' loads are under way before the rare second half. The
  // vector that begins with item i, if it ends within the row; then one in which the row ends.
  TILEFOLD_D packet vector_at(int i) const {
    return i + width <= length_ ? *reinterpret_cast<const packet*>(row_ + i) : packet_of_missing();
  }
  TILEFOLD_D void complete(packet& vector, int i) const {
    if (i < length_ && i + width > length_) {
      vector = packet_of_items<T, width>(row_, i, length_, missing());
    }
  }
  TILEFOLD_D static packet packet_of_missing() {
    packet built{};
#pragma unroll
    for (int j = 0; j < width; ++j) cuda::insert_item<T>(built.word, j, missing());
    return built;
  }

  template <class Function, class Value, class Out>
  TILEFOLD_D static void write_packet(const packet& from, const Function& function,
                                      const Value& value, Out* out) {
    struct items_out {
      Out item[width];
    };
    using packet_out = packet_of<Out, width>;
    items_out joined;
#pragma unroll
    for (int j = 0; j < width; ++j) joined.item[j] = function(item(from, j), value);
    *reinterpret_cast<packet_out*>(out) = __builtin_bit_cast(packet_out, joined);
  }

  // What is there, read once more: by packets, where items lie in memory as their results do; else
  // neighbours by neighbouring lanes.
  template <class Function, class Value, class Out>
  __device__ TILEFOLD_APART static void write_from_memory(const T* row, int first, int length,
                                                          int lane, const Function& function,
                                                          Value value, Out* out) {
    int begin = first;
    const int end = detail::smaller(first + items, length);
    const auto write_items = [&](int from, int to) {
#pragma unroll 4
      for (int i = from + lane; i < to; i += Lanes) out[i] = function(row[i], value);
    };
    const unsigned offset = cuda::misalignment(row + first);
    const int head = (width - static_cast<int>(offset / sizeof(T))) % width;
    if (offset % sizeof(T) == 0 && cuda::misalignment(out + first + head) == 0) {
      begin = detail::smaller(end, first + head);
      const int whole = begin + (end - begin) / width * width;
      write_items(first, begin);
#pragma unroll 4
      for (int i = begin + lane * width; i < whole; i += step) {
        write_packet(*reinterpret_cast<const packet*>(row + i), function, value, out + i);
      }
      begin = whole;
    }
    write_items(begin, end);
  }

  // `made` of packet p is there before anything is made of the next one; and what was made of items
  // before is forgotten. Else the compiler makes all at once, keeps items as floats from one step
  // to the next, and runs out of registers.
  TILEFOLD_D void one_after_another(int p, float& made) {
    asm volatile("" : "+f"(made));
    forget_what_is_made_of(p + 1);
  }
  TILEFOLD_D void one_after_another(int p, double& made) {
    asm volatile("" : "+d"(made));
    forget_what_is_made_of(p + 1);
  }
  TILEFOLD_D void forget_what_is_made_of(int p) {
    if (p >= Chunks * Packets) return;
#pragma unroll
    for (int i = 0; i < load_bytes / 4; ++i) asm volatile("" : "+r"(packets_[p].word[i]));
  }

  // What stands for an item that does not exist.
  TILEFOLD_D static T missing() {
    if constexpr (sums_near<Reducer, T>) {
      return detail::convert<T>(-infinity<float>);
    } else {
      return T{};
    }
  }

  // ---- sums in units of the greatest

  TILEFOLD_D void floats_of(int p, float (&x)[width]) const {
#pragma unroll
    for (int j = 0; j < width; ++j) x[j] = detail::convert<float>(item(p, j));
  }

  TILEFOLD_D float greatest() {
    float max = -infinity<float>;
#pragma unroll
    for (int p = 0; p < Chunks * Packets; ++p) {
      float x[width];
      floats_of(p, x);
      max = detail::not_below(max, ways_of<Reducer>::near::greatest(x));
      one_after_another(p, max);
    }
#pragma unroll
    for (int mask = 1; mask < Lanes; mask *= 2) {
      max = detail::not_below(max, __shfl_xor_sync(full_warp, max, mask));
    }
    return max;
  }

  TILEFOLD_D acc sum_near(float max) {
    using near = typename ways_of<Reducer>::near;
    const std::int32_t exponent = near::exponent(max);
    double sums[Chunks];
#pragma unroll
    for (int c = 0; c < Chunks; ++c) {
      registers<double, Packets> nodes;
#pragma unroll
      for (int p = 0; p < Packets; ++p) {
        float x[width];
        floats_of(c * Packets + p, x);
        double node = near::sum(x, max, exponent);
        one_after_another(c * Packets + p, node);
        nodes.put(p, node);
      }
      const near_sum tree;
      sums[c] = stripe_fold<Packets, width, true, near_sum, Lanes>(tree, 0, 0, lane_).fold(nodes);
    }
    return near::node(max, exponent,
                      Chunks == 1 ? sums[0] : rounded_sum(sums[0], sums[Chunks - 1]));
  }

  // What is left, in code of its own that reads the items again: it would take registers.
  __device__ TILEFOLD_APART static acc fold_again(const Reducer& reducer, const T* row, int first,
                                                  int length, int lane) {
    return row_part(reducer, row, first, length, lane, false).fold_nodes();
  }

  // ---- nodes of the reducer's own

  TILEFOLD_D acc fold_nodes() const {
    slot<acc> node;
    node.put(chunk(0));
#pragma unroll
    for (int c = 1; c < Chunks; ++c) {
      // Uniform in the warp.
      if (first_ + c * chunk_items >= length_) break;
      const acc both = reducer_.combine(node.value, chunk(c));
      node.put(both);
    }
    return node.value;
  }

  TILEFOLD_D acc chunk(int c) const {
    registers<acc, Packets> nodes;
#pragma unroll
    for (int p = 0; p < Packets; ++p) {
      const int left = length_ - at(c * Packets + p);
      registers<acc, width> lifted;
#pragma unroll
      for (int j = 0; j < width; ++j) {
        if (j < left) lifted.put(j, reducer_.lift(item(c * Packets + p, j)));
      }
      if (left > 0) nodes.put(p, cuda::fold_packet<false>(reducer_, lifted, 0, left));
    }
    return stripe_fold<Packets, width, false, Reducer, Lanes>(reducer_, first_ + c * chunk_items,
                                                              length_, lane_)
        .fold(nodes);
  }

  const Reducer& reducer_;
  const T* const row_;
  const int first_;
  const int length_;
  const int lane_;
  const bool aligned_;
  const bool whole_;
  packet packets_[Chunks * Packets];
};

/// Rows of at most `items` items, each by `Lanes` lanes.
template <class Build, int Lanes, int Packets, class T, class Out, class Reducer, class Function>
__global__ void __launch_bounds__(rows_nt, resident_rows_warps(Lanes, Packets, sizeof(T)) *
                                               warp_size / rows_nt)
    rows_by_lanes_kernel(rows_of_items<T, Out> all, Reducer reducer, Function function) {
  constexpr int rows_of_warp = warp_size / Lanes;
  cuda::wait_for_previous_launch();
  const int lane = static_cast<int>(threadIdx.x) % Lanes;
  const int row_in_warp = static_cast<int>(threadIdx.x) % warp_size / Lanes;
  const std::int64_t warp =
      std::int64_t{blockIdx.x} * (rows_nt / warp_size) + static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t rows_at_once = std::int64_t{gridDim.x} * (rows_nt / Lanes);
  for (std::int64_t first = warp * rows_of_warp; first < all.rows; first += rows_at_once) {
    // All lanes take part in every fold; those without a row in the last one again.
    const bool mine = first + row_in_warp < all.rows;
    const std::int64_t row = mine ? first + row_in_warp : all.rows - 1;
    row_part<Lanes, Packets, 1, T, Reducer> part(reducer, all.items + row * all.length, 0,
                                                 static_cast<int>(all.length), lane, all.aligned);
    const auto value = reducer.project(part.fold());
    if (mine) part.write(function, value, all.out + row * all.length);
  }
}

/// A value of another block of the cluster, at the same place of its shared memory as mine.
template <class Acc>
TILEFOLD_D Acc value_of_block([[maybe_unused]] const Acc& mine, [[maybe_unused]] int block) {
  words<Acc> w{};
#if __CUDA_ARCH__ >= 900
  unsigned place;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(place)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&mine))), "r"(block));
#pragma unroll
  for (int i = 0; i < words<Acc>::count; ++i) {
    asm volatile("ld.shared::cluster.u32 %0, [%1];"
                 : "=r"(w.word[i])
                 : "r"(place + 4 * i)
                 : "memory");
  }
#endif
  return from_words<Acc>(w);
}

TILEFOLD_D void arrive_in_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
TILEFOLD_D void wait_for_cluster() {
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

  TILEFOLD_D static int warp() { return static_cast<int>(threadIdx.x) / warp_size; }
  TILEFOLD_D static int warps() { return static_cast<int>(blockDim.x) / warp_size; }
  TILEFOLD_D static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
};

template <class T, class Reducer>
using part_of_warp = row_part<warp_size, row_packets, row_chunks, T, Reducer>;

/// The node of a tile of `count` items, of which each warp has a part, in the first warp.
template <class Part, class Reducer>
TILEFOLD_D typename Reducer::accumulator fold_row_tile(const row_place<Reducer>& place, Part& part,
                                                       int count) {
  using acc = typename Reducer::accumulator;
  using tree = block_tree<most_row_warps, Part::items, false, Reducer>;
  slot<acc> node;
  if (place.warp() * Part::items < count) node.put(part.fold());
  return tree::fold(place.reducer, node.value, __builtin_addressof(place.shared.of_warps[0].value),
                    count, place.warps());
}

/// The projected node of `there` slices, of which the first warp has this block's; in all threads.
template <class Reducer>
TILEFOLD_D typename Reducer::result row_value(const row_place<Reducer>& place,
                                              const typename Reducer::accumulator& of_slice,
                                              int there) {
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
      node.put(block_tree<cluster_blocks, 1, false, Reducer>::fold_lanes(
          place.reducer, other, number, there, place.slices));
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

/// Folds this block's slice of a row, and writes its items: as many as its warps have at once.
template <class T, class Out, class Reducer, class Function>
TILEFOLD_D void join_tile(const row_place<Reducer>& place, const rows_of_items<T, Out>& all,
                          std::int64_t row, const Function& function) {
  using part_type = part_of_warp<T, Reducer>;
  const int slice_items = place.warps() * part_type::items;
  const auto length = static_cast<int>(all.length);
  const int first = place.slice * slice_items;
  part_type part(place.reducer, all.items + row * length + first, place.warp() * part_type::items,
                 length - first, place.lane(), all.aligned);
  const auto value = cuda::row_value(place, cuda::fold_row_tile(place, part, length - first),
                                     static_cast<int>(tree::num_blocks(length, slice_items)));
  part.write(function, value, all.out + row * length + first);
}

/// The same of a slice of `slice_items` items, a power of two and several tiles.
template <class T, class Out, class Reducer, class Function>
TILEFOLD_D void join_tiles(const row_place<Reducer>& place, const rows_of_items<T, Out>& all,
                           std::int64_t row, const Function& function, std::int64_t slice_items) {
  using part_type = part_of_warp<T, Reducer>;
  const std::int64_t first = place.slice * slice_items;
  const std::int64_t left = detail::smaller(all.length - first, slice_items);
  const std::int64_t tile_items = place.warps() * part_type::items;
  const T* const items = all.items + row * all.length + first;
  Out* const out = all.out + row * all.length + first;
  const auto tile_at = [&](std::int64_t at) {
    return part_type(place.reducer, items + at, place.warp() * part_type::items,
                     static_cast<int>(detail::smaller(left - at, tile_items)), place.lane(),
                     all.aligned);
  };
  warp_stack<Reducer> stack(place.reducer);
  for (std::int64_t at = 0; at < left; at += tile_items) {
    part_type tile = tile_at(at);
    const auto node =
        cuda::fold_row_tile(place, tile, static_cast<int>(detail::smaller(left - at, tile_items)));
    if (place.warp() == 0) stack.push(node);
    __syncthreads();  // of_warps are free again
  }
  slot<typename Reducer::accumulator> of_slice;
  if (place.warp() == 0 && left > 0) of_slice.put(stack.value());
  const auto value = cuda::row_value(place, of_slice.value,
                                     static_cast<int>(tree::num_blocks(all.length, slice_items)));
  for (std::int64_t at = 0; at < left; at += tile_items) {
    tile_at(at).write(function, value, out + at);
  }
}

/// Rows by a block each, or a cluster of `slices` blocks; a slice is `slice_items` items, several
/// tiles or one.
template <class Build, bool InTiles, class T, class Out, class Reducer, class Function>
__global__ void __launch_bounds__(most_row_warps* warp_size)
    rows_by_blocks_kernel(rows_of_items<T, Out> all, Reducer reducer, Function function, int slices,
                          std::int64_t slice_items) {
  __shared__ row_exchange<Reducer> shared;
  cuda::wait_for_previous_launch();
  const row_place<Reducer> place{reducer, shared, static_cast<int>(blockIdx.x) % slices, slices};
  const std::int64_t row = static_cast<int>(blockIdx.x) / slices;
  if constexpr (InTiles) {
    cuda::join_tiles(place, all, row, function, slice_items);
  } else {
    cuda::join_tile(place, all, row, function);
  }
  // No block of a cluster may leave while another reads its value.
  if (slices > 1) cuda::wait_for_cluster();
}

}  // namespace tilefold::detail::cuda
