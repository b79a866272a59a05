// SPDX-License-Identifier: Apache-2.0
//
// Stripes of cells out of shared memory, for accumulators that are large for their items, and for
// structs. Moving these between lanes costs more than loading items, so a lane folds a cell of
// neighbours by itself, while the next stripe is on its way:
//
//     items    | stripe 0 | stripe 1 | stripe 2 | stripe 3 | ...    a chunk: 4 neighbouring stripes
//     stripe   | lane 0 | lane 1 | ... | lane 31 |                  a cell a lane: 128 bytes, so 32
//                   |                                               floats, or two 64-byte structs
//     shared   [ stripe s: folded ] [ stripe s + 1: on its way ]    two stages a warp (staged.cuh)
//     lane     one node of each stripe of a chunk, in registers
//
// What becomes of the nodes differs: of a tile (tile_kernel.cuh), of a tree by a warp
// (tree_by_warp.cuh), of trees that are levels of one (subtree_kernel.cuh).
#pragma once

#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/fold/lane_tree.cuh>
#include <tilefold/detail/cuda/load/staged.cuh>

namespace tilefold::detail::cuda {

/// Whether items are structs that lie in memory as whole words.
template <class Source>
inline constexpr bool holds_structs = false;
template <class T>
inline constexpr bool holds_structs<source_of<std::index_sequence<0>, T*>> =
    loads_packets<T*> && sizeof(T) % 4 == 0 && alignof(T) % 4 == 0;

/// Whether a fold in the fixed order is staged: of large accumulators of a reducer, and of structs.
template <class Source, class Reducer>
inline constexpr bool stages_reducer = false;
template <class Source, class R, class Lift, class... Values>
inline constexpr bool stages_reducer<Source, bound_reducer<R, Lift, Values...>> =
    pays_to_stage_reducer(staged_bytes<Source>,
                          sizeof(typename bound_reducer<R, Lift, Values...>::accumulator));
template <class Source, class Reducer>
inline constexpr bool stages_reducer<Source, closed_reducer<Reducer>> =
    stages_reducer<Source, Reducer>;
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

  TILEFOLD_D accumulator combine(const accumulator& a, const accumulator& b) const {
    return reducer.combine_equals(a, b);
  }
};

/// Stripes of cells of `Cell` items; all lanes of a warp together.
template <class Source, class Reducer, int Cell = staged_shape_of<Source, Reducer>.cell>
class staged_stripes {
  using acc = typename Reducer::accumulator;
  static constexpr int packet = detail::smaller(Cell, staged_packet(Reducer::long_combine));
  static constexpr int unrolled = staged_stripes_unrolled(sizeof(acc));

 public:
  static constexpr int cell = Cell;
  static constexpr int items = warp_size * cell;
  using stage = lane_stage<Source, cell>;

  /// `stages` are two of the warp's own.
  TILEFOLD_D staged_stripes(const Source& source, const Reducer& reducer, stage* stages)
      : source_(source),
        reducer_(reducer),
        stages_(stages),
        lane_(static_cast<int>(threadIdx.x) % warp_size) {}

  /// This lane's node of a staged stripe, which begins with item `first` of its tree, as `source`.
  TILEFOLD_D acc node_of(const stage& from, const Source& source, std::int64_t first) const {
    return lane_node(from, source, first + lane_ * cell);
  }

  /// node_of() a stripe of which only `count` items exist, in lanes that have any.
  TILEFOLD_D void put_node(registers<acc, 1>& node, const stage& from, const Source& source,
                           std::int64_t first, int count) const {
    static_assert(packet == cell);
    const int mine = detail::smaller(count - lane_ * cell, cell);
    if (mine <= 0) return;
    node.put(0, from.template packets<cell>(
                    [&](const auto&... items) {
                      return lane_tree<acc>::template first<cell>(
                          0, mine, [&](int i) { return reducer_.lift(items[i]...); },
                          [&](const acc& a, const acc& b) { return reducer_.combine(a, b); });
                    },
                    source, 0, first + lane_ * cell));
  }

  /// Items behind a stripe that may be read with it.
  __device__ int overread_items() const { return stage::overread_items(source_); }

  /// Calls keep(nodes, g) for chunks g = begin, begin + step... below `end`, of which there is one
  /// at least: of `Stripes` stripes each, of which all items exist. The first one begins with item
  /// `first`, the next one `distance` items later; nodes[r] is this lane's node of its stripe r.
  template <int Stripes, class Index, class Keep>
  TILEFOLD_D void chunks(std::int64_t first, std::int64_t distance, Index begin, Index end,
                         Index step, const Keep& keep) const {
    static_assert(Stripes % 2 == 0);  // stages take turns
    stages_[0].fill(detail::starting_at(source_, first));
#pragma unroll 1
    for (Index g = begin; g < end; g += step) {
      registers<acc, Stripes> nodes;
#pragma unroll unrolled
      for (int r = 0; r < Stripes; ++r) {
        const bool ends_chunk = r + 1 == Stripes;
        const std::int64_t next = first + (ends_chunk ? distance - (Stripes - 1) * items : items);
        if (!ends_chunk || g + step < end) {
          stages_[(r + 1) % 2].fill(detail::starting_at(source_, next));
        } else {
          cuda::commit_stage();  // of nothing
        }
        cuda::finish_stage<1>();
        // Nodes move down: in a loop that is not unrolled no register can be chosen by r.
#pragma unroll
        for (int k = 1; k < Stripes; ++k) nodes.put(k - 1, nodes[k]);
        nodes.put(Stripes - 1, lane_node(stages_[r % 2], detail::starting_at(source_, first),
                                         first + lane_ * cell));
        first = next;
      }
      keep(nodes, g);
    }
  }

 private:
  // The node of this lane's cell, in packets; its first is item `index` of the tree.
  TILEFOLD_D acc lane_node(const stage& from, const Source& source, std::int64_t index) const {
    return lane_tree<acc>::template whole<cell / packet>(
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
  TILEFOLD_D acc packet_node(const Items&... items) const {
    if constexpr (Reducer::lifts_packets) {
      return lift_packet(items...);
    } else {
      return lane_tree<acc>::template whole<packet>(
          0, [&](int i) { return reducer_.lift(items[i]...); },
          [&](const acc& a, const acc& b) { return reducer_.combine_equals(a, b); });
    }
  }
  template <class T>
  TILEFOLD_D acc lift_packet(const registers<T, packet>& items) const {
    T values[packet];
#pragma unroll
    for (int j = 0; j < packet; ++j) values[j] = items[j];
    return reducer_.lift_packet(values);
  }

  const Source& source_;
  const Reducer& reducer_;
  stage* const stages_;
  const int lane_;
};

}  // namespace tilefold::detail::cuda
