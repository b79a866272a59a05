// SPDX-License-Identifier: Apache-2.0
//
// The neighbour tree inside a block. A tile of nt * vt items is cut like this, each part in order:
//
//     tile     | warp 0 | warp 1 | ... | warp nt/32 - 1 |     32 * vt items a warp
//     warp     | chunk 0 | chunk 1 | ... |                    `chunks` of them, one after the other
//     chunk    | stripe 0 | stripe 1 | ... |                  `stripes` of them, all loaded at once
//     stripe   | lane 0 | lane 1 | ... | lane 31 |            a packet of `width` items a lane
//                  |
//              a lane folds each packet; stripe_fold (stripe_merge.cuh) makes the packets' nodes of
//              a chunk one node, in every lane; the chunks of a warp meet in pairs; lane 0 of each
//              warp puts its node into shared memory, and the first warp folds these.
//
// Floats with nt = 512 and vt = 16 have one chunk of 4 stripes, and 4 items in a packet.
#pragma once

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>

namespace tilefold::detail::cuda {

// A chunk: stripes of packets in the registers of a warp, here 4 stripes of packets of 4 items.
//
//     items     0 1 2 3   4 5 6 7   ...   124 .. 127   |   128 ..   |  256 ..  |  384 .. 511
//     lane         0         1                31           0 1 ..       0 ..        0 .. 31
//              |               stripe 0                |  stripe 1  | stripe 2 |  stripe 3

/// The first item of this lane's packet in stripe r.
template <int Width>
TILEFOLD_D int packet_first(int r) {
  return r * (warp_size * Width) + static_cast<int>(threadIdx.x) % warp_size * Width;
}

/// The items of this lane's packet in stripe r, lifted; those below `count`, or all (`Full`).
template <bool Full, class Reducer, class Source, int Stripes, int Width>
TILEFOLD_D registers<typename Reducer::accumulator, Width> lift_packet(
    const Reducer& reducer, const lane_stripes<Source, Stripes, Width>& loaded, int r, int count) {
  registers<typename Reducer::accumulator, Width> items;
#pragma unroll
  for (int j = 0; j < Width; ++j) {
    if (Full || cuda::packet_first<Width>(r) + j < count) {
      items.put(j, loaded.lift(reducer, r, j));
    }
  }
  return items;
}

/// This lane's node of each stripe.
template <bool Full, class Reducer, class Source, int Stripes, int Width>
TILEFOLD_D registers<typename Reducer::accumulator, Stripes> fold_packets(
    const Reducer& reducer, const lane_stripes<Source, Stripes, Width>& loaded, int count) {
  registers<typename Reducer::accumulator, Stripes> nodes;
#pragma unroll
  for (int r = 0; r < Stripes; ++r) {
    auto items = cuda::lift_packet<Full>(reducer, loaded, r, count);
    nodes.put(r, cuda::fold_packet<Full>(reducer, items, cuda::packet_first<Width>(r), count));
  }
  return nodes;
}

/// A software pipeline over places: while fold(items, place) folds what was loaded at a place,
/// load(next place) has begun to load the next. advance(place) moves a place on, and says whether
/// it is one. Returns the first place that is none.
template <class Items, class Place, class Advance, class Load, class Fold>
TILEFOLD_D Place stream_ahead(Place place, const Advance& advance, const Load& load,
                              const Fold& fold) {
  slot<Items> next;
  next.put(load(place));
  bool more = true;
#pragma unroll 1
  do {
    slot<Items> items;
    items.put(next.value);
    const Place here = place;
    more = advance(place);
    if (more) next.put(load(place));
    fold(items.value, here);
  } while (more);
  return place;
}

/// A stack of nodes that wait for their right neighbours: lane `level` holds the node of 2^level
/// pushed values, if bit `level` of their number is set. All lanes push the same values.
template <class Reducer>
class warp_stack {
  using acc = typename Reducer::accumulator;

 public:
  __device__ warp_stack(const Reducer& reducer)
      : reducer_(reducer), lane_(static_cast<int>(threadIdx.x) % warp_size) {}

  __device__ void push(acc value) {
    int level = 0;
    for (unsigned bits = count_; bits & 1; bits >>= 1) {
      replace(value, reducer_.combine(waiting(level++), value));
    }
    if (lane_ == level) waiting_.put(value);
    ++count_;
  }

  /// Empties the stack.
  __device__ void clear() { count_ = 0; }

  /// The fold of everything pushed, at least one value; the same in every lane.
  __device__ acc value() const {
    int level = __ffs(static_cast<int>(count_)) - 1;
    acc result = waiting(level);
    for (unsigned bits = count_ >> (level + 1); bits != 0; bits >>= 1) {
      ++level;
      if (bits & 1) replace(result, reducer_.combine(waiting(level), result));
    }
    return result;
  }

 private:
  // `node` was made apart from `place`, which a combine may read after it has begun to write.
  TILEFOLD_D static void replace(acc& place, const acc& node) {
    ::new (static_cast<void*>(__builtin_addressof(place))) acc(node);
  }

  __device__ acc waiting(int level) const { return cuda::shuffle_from(waiting_.value, level); }

  const Reducer& reducer_;
  const int lane_;
  slot<acc> waiting_;
  unsigned count_ = 0;
};

/// How the vt items of a thread are cut: `chunks` times `stripes` packets of `width` items.
struct tile_shape {
  int width;
  int stripes;
  int chunks;
};

template <class Acc, std::size_t... Index, class... Its>
constexpr tile_shape shape_of(int vt, const source_of<std::index_sequence<Index...>, Its...>*) {
  const int width = packet_width<Its...>(vt);
  const int item_bytes = (item_bytes_of<Its> + ...);
  const int stripe_bytes = detail::larger(width * item_bytes, static_cast<int>(sizeof(Acc)));
  int stripes = detail::smaller(vt / width, most_stripes);
  while (stripes > 1 && stripes * stripe_bytes > stripe_bytes_budget) stripes /= 2;
  return {width, stripes, vt / (width * stripes)};
}

/// Folds items [tile_first, tile_first + count) of `source`. `Full` promises that there are no
/// fewer than the tile has and that overreading (load/packets.cuh) stays inside the range;
/// otherwise `count` may cut the tile off, or include items after it. `warp_values` is shared
/// memory for a value of each warp, free to use on entry. The block has `num_warps` warps, a power
/// of two, nt / 32 by default. The result is valid in the first warp.
///
/// `MostlyWhole`: a warp whose items all exist folds as in a full tile; for blocks of one tile.
template <tile_policy Policy, bool Full, class Source, class Reducer, bool MostlyWhole = false>
class tile_fold {
  using acc = typename Reducer::accumulator;
  static constexpr tile_shape shape = shape_of<acc>(Policy.vt, static_cast<const Source*>(nullptr));
  static constexpr int stripe_items = warp_size * shape.width;
  static constexpr int chunk_items = shape.stripes * stripe_items;
  static constexpr int most_warps = Policy.nt / warp_size;
  // With neutral values in place of missing items, every node has both halves.
  static constexpr bool full_nodes = Full || fold_traits<Reducer>::pads;
  using stripes_registers = registers<acc, shape.stripes>;

 public:
  static constexpr int warp_items = warp_size * Policy.vt;
  template <class Other>
  using with = tile_fold<Policy, Full, Source, Other>;

  /// Items past the tile's end that a full fold may touch.
  TILEFOLD_D static int overread_items(const Source& source) {
    return lane_stripes<Source, shape.stripes, shape.width>::overreads(source) ? shape.width : 0;
  }

  TILEFOLD_D static acc fold(const Source& source, const Reducer& reducer, std::int64_t tile_first,
                             int count, acc* warp_values, int num_warps = most_warps) {
    using warps = block_tree<most_warps, warp_items, full_nodes, Reducer>;
    const int warp = most_warps == 1 ? 0 : static_cast<int>(threadIdx.x / warp_size);
    const acc value = node_of_warp(source, reducer, tile_first, count, warp);
    return warps::fold(reducer, value, warp_values, count, num_warps);
  }

  /// The node of a warp's items, in every lane.
  TILEFOLD_D static acc node_of_warp(const Source& source, const Reducer& reducer,
                                     std::int64_t tile_first, int count, int warp) {
    if constexpr (MostlyWhole && !Full) {
      using whole = tile_fold<Policy, true, Source, Reducer>;
      if ((warp + 1) * warp_items + overread_items(source) <= count) {
        return whole::node_of_warp(source, reducer, tile_first, count, warp);
      }
    }
    if constexpr (Full && counts_and_sums<Reducer>) {
      return sums_of_means<Reducer>::template node_of_warp<tile_fold>(source, reducer, tile_first,
                                                                      warp);
    } else {
      return chunks_of_warp(source, reducer, tile_first, count, warp);
    }
  }
  TILEFOLD_D static acc chunks_of_warp(const Source& source, const Reducer& reducer,
                                       std::int64_t tile_first, int count, int warp) {
    const tile_fold tile{source, reducer, tile_first, count};
    return tile.template chunks<shape.chunks>(warp * warp_items);
  }

 private:
  __device__ tile_fold(const Source& source, const Reducer& reducer, std::int64_t tile_first,
                       int count)
      : source_(source),
        reducer_(reducer),
        tile_first_(tile_first),
        count_(count),
        lane_(most_warps == 1 ? cuda::opaque_lane() : static_cast<int>(threadIdx.x % warp_size)) {}

  // The node of N chunks from item `first` of the tile.
  template <int N>
  TILEFOLD_D acc chunks(int first) const {
    if constexpr (N == 1) {
      return chunk(first);
    } else if constexpr (sizeof(acc) > most_unrolled_bytes) {
      warp_stack<Reducer> stack(reducer_);
#pragma unroll 1
      for (int i = 0; i < N; ++i) {
        if (!Full && i > 0 && first + i * chunk_items >= count_) break;
        stack.push(chunk(first + i * chunk_items));
      }
      return stack.value();
    } else {
      const acc left = chunks<N / 2>(first);
      const int right_first = first + N / 2 * chunk_items;
      // Uniform in the warp, so that the shuffles inside are met by all lanes or none.
      if (!Full && right_first >= count_) return left;
      return reducer_.combine(left, chunks<N / 2>(right_first));
    }
  }

  TILEFOLD_D acc chunk(int first) const {
    // Initialized once, because accumulators need not be assignable.
    const stripes_registers stripes = Full ? whole_packets(first) : cut_packets(first);
    return stripe_fold<shape.stripes, shape.width, full_nodes, Reducer>(reducer_, first, count_,
                                                                        lane_)
        .fold(stripes);
  }

  TILEFOLD_D int lane_first(int first) const { return first + lane_ * shape.width; }

  // This lane's node of each stripe. All loads come before the first use, so that they overlap.
  TILEFOLD_D stripes_registers whole_packets(int first) const {
    lane_stripes<Source, shape.stripes, shape.width> loaded;
    loaded.load_all(source_, tile_first_ + lane_first(first));
    return cuda::fold_packets<true>(reducer_, loaded, 0);
  }

  TILEFOLD_D stripes_registers cut_packets(int first) const {
    lane_stripes<Source, shape.stripes, shape.width> loaded;
#pragma unroll
    for (int r = 0; r < shape.stripes; ++r) {
      const int offset = r * stripe_items;
      if (first + offset < count_) {  // uniform in the warp: the stripe is not wholly absent
        loaded.load_one(source_, tile_first_ + lane_first(first) + offset, r,
                        count_ - lane_first(first) - offset);
      }
    }
    stripes_registers stripes;
#pragma unroll
    for (int r = 0; r < shape.stripes; ++r) {
      const int item = lane_first(first) + r * stripe_items;
      registers<acc, shape.width> items;
#pragma unroll
      for (int j = 0; j < shape.width; ++j) {
        if (item + j < count_) {
          items.put(j, loaded.lift(reducer_, r, j));
        } else if constexpr (fold_traits<Reducer>::pads) {
          items.put(j, Reducer::neutral());
        }
      }
      stripes.put(r, cuda::fold_packet<full_nodes>(reducer_, items, item, count_));
    }
    return stripes;
  }

  const Source& source_;
  const Reducer& reducer_;
  const std::int64_t tile_first_;
  const int count_;
  const int lane_;
};

/// The fold of a full tile in two steps, for stream_ahead(): of aligned memory, and with
/// accumulators that leave room for two tiles' items in registers.
template <tile_policy Policy, class Source, class Reducer>
class tile_ahead {
  using acc = typename Reducer::accumulator;
  static constexpr tile_shape shape = shape_of<acc>(Policy.vt, static_cast<const Source*>(nullptr));
  static constexpr int stripe_items = warp_size * shape.width;
  static constexpr int warp_items = warp_size * Policy.vt;
  static constexpr int num_warps = Policy.nt / warp_size;

 public:
  using items = lane_stripes<Source, shape.stripes, shape.width>;

  static constexpr bool pays =
      shape.chunks == 1 && pays_to_load_ahead(sizeof(items), sizeof(acc), shape.width);

  /// Loads a tile of aligned memory: overreads() is false.
  TILEFOLD_D static void load(items& loaded, const Source& source, std::int64_t tile_first) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    // So the compiler leaves out the code for misaligned memory.
    const bool aligned = !items::overreads(source);
    __builtin_assume(aligned);
    loaded.load_all(source, tile_first + warp * warp_items + lane * shape.width);
  }

  TILEFOLD_D static acc fold(const items& loaded, const Reducer& reducer, acc* warp_values) {
    using warps = block_tree<num_warps, warp_items, true, Reducer>;
    const acc node = stripe_fold<shape.stripes, shape.width, true, Reducer>(reducer, 0, 0)
                         .fold(cuda::fold_packets<true>(reducer, loaded, 0));
    return warps::fold_all(reducer, node, warp_values, Policy.tile());
  }
};

}  // namespace tilefold::detail::cuda
