// SPDX-License-Identifier: Apache-2.0
//
// The neighbour tree over a unit of which only a part exists: the tile in which a piece begins or
// ends, or a group of partials. A node exists if all of its values do. One whose parent does not
// exist is loose: it is a block of the piece, and is written.
//
//     unit       . . . 3 | 4 5 6 7 | 8 9 10 11 | 12 13 . .      values [3, 14) of 16
//     nodes            3     4-7       8-11       12,13         whatever exists is joined
//                      `---------------.--------------'
//     loose            3     4-7       8-11       12,13         written; 4-11 is no node
//
// The unit is cut as a tile is (tile_fold.cuh), but for what a lane has: a stretch of neighbours. A
// stretch in which the piece begins or ends is dealt to lanes value by value.
//
//     unit     | warp 0 | warp 1 | ...                a warp its part, stripe by stripe
//     stripe   | lane 0 | lane 1 | ... | lane 31 |    a lane a stretch
//
// No operand is made up, and nothing outside of the piece is read.
#pragma once

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/fold/lane_tree.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/load/stretches.cuh>

namespace tilefold::detail::cuda {

/// Stretches of a unit that begins with item `first` of `source`, which has n items from 0 on. The
/// unit may begin before them and end behind them.
template <class Source, class Reducer, int Stretch>
struct item_stretches {
  using acc = typename Reducer::accumulator;
  static constexpr int stretch = Stretch;

  const Source& source;
  const Reducer& reducer;
  std::int64_t first;
  std::int64_t n;

  /// The node of the stretch from value `at` of the unit on, in lanes that `have` it; by all lanes
  /// of the warp.
  __device__ __forceinline__ void put_node(slot<acc>& node, int at, bool have) const {
    const std::int64_t item = first + at;
    const bool inner = item * least_item_bytes<Source> >= std::int64_t{load_bytes} &&
                       (n - item - stretch) * least_item_bytes<Source> >= std::int64_t{load_bytes};
    lane_stretches<Source, stretch> items;
    items.load(source, item, have ? stretch : 0, inner);
    items.settle();
    if (have) node.put(node_of(items));
  }

  /// The value `at` of the unit, in lanes that `have` it; by all lanes of the warp.
  __device__ __forceinline__ void put_value(slot<acc>& value, int at, bool have) const {
    lane_stretches<Source, 1> item;
    item.load(source, first + at, have ? 1 : 0, false);
    item.settle();
    if (have) value.put(item.lift(reducer, 0));
  }

 private:
  // Large accumulators packet by packet, so that less code stands side by side.
  static constexpr int packet = 4;
  static constexpr bool by_packets = sizeof(acc) > 16 && stretch > packet;

  __device__ __forceinline__ acc node_of(lane_stretches<Source, stretch>& items) const {
    if constexpr (by_packets) {
      static_assert(stretch == 2 * packet || stretch == 4 * packet);
      slot<acc> half;
      slot<acc> value;
#pragma unroll 1
      for (int at = 0; at < stretch; at += packet) {
        const acc mine = whole<packet>(items);
        value.put((at & packet) != 0 ? reducer.combine_equals(value.value, mine) : mine);
        if (at == packet) half.put(value.value);
        items.template drop<packet>(stretch - at);
      }
      if constexpr (stretch == 2 * packet) return value.value;
      return reducer.combine_equals(half.value, value.value);
    } else {
      return whole<stretch>(items);
    }
  }
  template <int N>
  __device__ __forceinline__ acc whole(const lane_stretches<Source, stretch>& items) const {
    return lane_tree<acc>::template whole<N>(
        0, [&](int i) { return items.lift(reducer, i); },
        [&](const acc& a, const acc& b) { return reducer.combine_equals(a, b); });
  }
};

/// Stretches of a group of partials: value i of the unit is partials[first + i].
template <class Reducer>
struct partial_stretches {
  using acc = typename Reducer::accumulator;
  static constexpr int stretch = group_vt;

  const acc* partials;
  const Reducer& reducer;
  std::int64_t first;

  __device__ __forceinline__ void put_node(slot<acc>& node, int at, bool have) const {
    if (!have) return;
    registers<acc, stretch> values;
#pragma unroll
    for (int i = 0; i < stretch; ++i) values.put(i, partials[first + at + i]);
    node.put(cuda::fold_packet<true>(reducer, values, 0, stretch));
  }
  __device__ __forceinline__ void put_value(slot<acc>& value, int at, bool have) const {
    if (have) value.put(partials[first + at]);
  }
};

/// The fold of a unit of Nt * Vt values, of which [begin, end) exist, by a block of Nt threads.
/// Calls keep(value, at) for each loose node in it, which begins with value `at`, in one thread
/// each.
template <int Nt, int Vt, class Stretches, class Reducer, class Keep>
class unit_fold {
  using acc = typename Reducer::accumulator;
  static constexpr int stretch = Stretches::stretch;
  static constexpr int stripe = warp_size * stretch;
  static constexpr int part = warp_size * Vt;
  static constexpr int warps = Nt / warp_size;
  static_assert(Vt % stretch == 0);

 public:
  const Stretches& stretches;
  const Reducer& reducer;
  const Keep& keep;
  int begin;
  int end;

  /// Returns whether all of the unit exists; its node is then in the first thread. `warp_values` is
  /// shared memory for a value of each warp. Begins and ends with a barrier.
  __device__ __forceinline__ bool fold(slot<acc>& node, acc* warp_values) const {
    __syncthreads();
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    fold_cut_stretches(warp);
    fold_part(node, warp * part);
    if constexpr (warps > 1) {
      if (lane() == 0 && exists(warp * part, part))
        ::new (static_cast<void*>(warp_values + warp)) acc(node.value);
      __syncthreads();
      if (warp == 0) {
        const int first = lane() % warps * part;
        if (exists(first, part)) node.put(warp_values[lane() % warps]);
        meet(node, first, part, warps);
      }
    }
    __syncthreads();
    return exists(0, Nt * Vt);
  }

 private:
  __device__ __forceinline__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
  // Whether all of the `size` values from `at` on exist.
  __device__ __forceinline__ bool exists(int at, int size) const {
    return begin <= at && at + size <= end;
  }
  __device__ __forceinline__ static int parent_of(int at, int size) { return at & -(2 * size); }

  // Nodes of `size` values in the first `lanes` lanes, of which this lane's begins with value `at`.
  // Afterwards lane 0 has the node of all, if it exists.
  __device__ __forceinline__ void meet(slot<acc>& node, int at, int size, int lanes) const {
#pragma unroll 1
    for (int step = 1; step < lanes; step *= 2) {
      const acc right = cuda::shuffle_down<warp_size>(node.value, step, full_warp);
      if (lane() < lanes && (lane() & (step - 1)) == 0 && exists(at, size)) {
        if (!exists(parent_of(at, size), 2 * size)) {
          keep(node.value, at);
        } else if ((lane() & step) == 0) {
          // Made apart from its operands, which a combine may read after it has begun to write.
          const acc both = reducer.combine_equals(node.value, right);
          node.put(both);
        }
      }
      size *= 2;
    }
  }

  // The stretches in which the piece begins and ends, if it does not do so between two. Their nodes
  // are all loose. Warps that have nothing else to do fold these stretches, if there are such
  // warps: those whose items lie before the piece or behind it.
  __device__ __forceinline__ void fold_cut_stretches(int warp) const {
    if constexpr (stretch > 1) {
      const int head = begin & -stretch;
      const int tail = end & -stretch;
      const bool has_head = head != begin && warp == (head / part + warps - 1) % warps;
      const bool has_tail =
          tail != end && (tail != head || head == begin) && warp == (tail / part + 1) % warps;
#pragma unroll 1
      for (int turn = has_head ? 0 : 1; turn < (has_tail ? 2 : 1); ++turn) {
        const int mine = (turn == 0 ? head : tail) + lane();
        slot<acc> value;
        stretches.put_value(value, mine, lane() < stretch && exists(mine, 1));
        meet(value, mine, 1, stretch);
      }
    }
  }

  // The part of a warp, which begins with value `first`: its node in lane 0, if it exists.
  __device__ __forceinline__ void fold_part(slot<acc>& node, int first) const {
    slot<acc> waiting;
#pragma unroll 1
    for (int at = first; at < first + part; at += stripe) {
      if (at >= end || at + stripe <= begin) continue;
      const int mine = at + lane() * stretch;
      stretches.put_node(node, mine, exists(mine, stretch));
      meet(node, mine, stretch, warp_size);
      if constexpr (part > stripe) {
        if (exists(at, stripe)) join_stripes(node, waiting, at);
      }
    }
  }

  // The stripe from value `at` on joins those before it. Nodes that wait for their right neighbours
  // do so in the lanes of their levels. After the last stripe every lane has the node of the part,
  // if it exists.
  __device__ __forceinline__ void join_stripes(slot<acc>& node, slot<acc>& waiting, int at) const {
    node.put(cuda::shuffle_from<warp_size>(node.value, 0, full_warp));
    int level = 0;
#pragma unroll 1
    for (int size = stripe; size < part; size *= 2) {
      const int parent = parent_of(at, size);
      if (!exists(parent, 2 * size)) {
        if (lane() == 0) keep(node.value, at);
        return;
      }
      if (at == parent) {
        if (lane() == level) waiting.put(node.value);
        return;
      }
      const acc left = cuda::shuffle_from<warp_size>(waiting.value, level++, full_warp);
      const acc both = reducer.combine_equals(left, node.value);
      node.put(both);
      at = parent;
    }
  }
};

}  // namespace tilefold::detail::cuda
