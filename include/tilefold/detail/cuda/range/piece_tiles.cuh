// SPDX-License-Identifier: Apache-2.0
//
// tile_kernel's work in a piece: it writes the values of the piece's maximal aligned blocks
// (tree.hpp). The tiles are those of the whole sequence, of which the piece is a part:
//
//     tiles     | . . 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 . |    0 and 7 are cut (unit_fold): their
//                                                          loose nodes are blocks of the piece
//     partials            1   2   3   4   5   6            tiles between are folded as by reduce()
//     groups          . . 1 | 2   3   4   5 | 6 . .        of the whole sequence, too: here 2, 3...
//     level 1                       2-5                    of a group that is cut all nodes but a
//                                                          few are joined; the loose ones are
//                                                          blocks
//     blocks      0       1         2-5       6   7        written where they belong in the list
//
// As in grid_tree.cuh no CUDA block waits: the last one to arrive folds a group. The place of an
// aligned block's value in the list follows from where the block begins.
#pragma once

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/lane_tree.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/load/stretches.cuh>
#include <tilefold/detail/cuda/range/piece_folds.cuh>
#include <tilefold/detail/cuda/range/tile_kernel.cuh>

namespace tilefold::detail::cuda {

// The neighbour tree over a unit of which only a part exists: the tile in which a piece begins or
// ends, or a group of partials. A node exists if all of its values do. A node whose parent does not
// exist is loose: it is an aligned block of the piece, and is written.
//
//     unit       . . . 3 | 4 5 6 7 | 8 9 10 11 | 12 13 . .      values [3, 14) of 16
//     nodes            3     4-7       8-11       12,13         whatever exists is joined
//                      `---------------.--------------'
//     loose            3     4-7       8-11       12,13         written; 4-11 is no node
//
// The unit is divided as a tile is (tile_fold.cuh), but a lane has a stretch of neighbours. A
// stretch in which the piece begins or ends is dealt to lanes value by value.
//
//     unit     | warp 0 | warp 1 | ...                a warp its part, stripe by stripe
//     stripe   | lane 0 | lane 1 | ... | lane 31 |    a lane a stretch
//
// No operand is made up, and nothing outside of the piece is read.

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

  /// The node of the stretch from value `at` of the unit on, in lanes that `have` it. All lanes.
  TILEFOLD_D void put_node(slot<acc>& node, int at, bool have) const {
    const std::int64_t item = first + at;
    const bool inner = item * least_item_bytes<Source> >= std::int64_t{load_bytes} &&
                       (n - item - stretch) * least_item_bytes<Source> >= std::int64_t{load_bytes};
    lane_stretches<Source, stretch> items;
    items.load(source, item, have ? stretch : 0, inner);
    items.settle();
    if (have) node.put(node_of(items));
  }

  /// The value `at` of the unit, in lanes that `have` it; by all lanes of the warp.
  TILEFOLD_D void put_value(slot<acc>& value, int at, bool have) const {
    lane_stretches<Source, 1> item;
    item.load(source, first + at, have ? 1 : 0, false);
    item.settle();
    if (have) value.put(item.lift(reducer, 0));
  }

 private:
  // Large accumulators packet by packet, so that less code stands side by side.
  static constexpr int packet = 4;
  static constexpr bool by_packets = sizeof(acc) > 16 && stretch > packet;

  TILEFOLD_D acc node_of(lane_stretches<Source, stretch>& items) const {
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
  TILEFOLD_D acc whole(const lane_stretches<Source, stretch>& items) const {
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

  TILEFOLD_D void put_node(slot<acc>& node, int at, bool have) const {
    if (!have) return;
    registers<acc, stretch> values;
#pragma unroll
    for (int i = 0; i < stretch; ++i) values.put(i, partials[first + at + i]);
    node.put(cuda::fold_packet<true>(reducer, values, 0, stretch));
  }
  TILEFOLD_D void put_value(slot<acc>& value, int at, bool have) const {
    if (have) value.put(partials[first + at]);
  }
};

/// The fold of a unit of Nt * Vt values, of which [begin, end) exist, by a block of Nt threads.
/// Calls keep(value, at) for each loose node, which begins with value `at`, in one thread each.
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
  TILEFOLD_D bool fold(slot<acc>& node, acc* warp_values) const {
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
  TILEFOLD_D static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
  // Whether all of the `size` values from `at` on exist.
  TILEFOLD_D bool exists(int at, int size) const { return begin <= at && at + size <= end; }
  TILEFOLD_D static int parent_of(int at, int size) { return at & -(2 * size); }

  // Nodes of `size` values in the first `lanes` lanes, of which this lane's begins with value `at`.
  // Afterwards lane 0 has the node of all, if it exists.
  TILEFOLD_D void meet(slot<acc>& node, int at, int size, int lanes) const {
#pragma unroll 1
    for (int step = 1; step < lanes; step *= 2) {
      const acc right = cuda::shuffle_down(node.value, step);
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

  // Folds the stretches in which the piece begins and ends, unless it does so between two. All
  // their nodes are loose. Each is folded by the warp next to its own outside of the piece, which
  // has nothing else to do, if there is such a warp.
  TILEFOLD_D void fold_cut_stretches(int warp) const {
    if constexpr (stretch > 1) {
      const int head = begin & -stretch;
      const int tail = end & -stretch;
      const bool has_head = head != begin && warp == (head / part + warps - 1) % warps;
      const bool has_tail =
          tail != end && (tail != head || head == begin) && warp == (tail / part + 1) % warps;
#pragma unroll 1
      for (int which = has_head ? 0 : 1; which < (has_tail ? 2 : 1); ++which) {
        const int mine = (which == 0 ? head : tail) + lane();
        slot<acc> value;
        stretches.put_value(value, mine, lane() < stretch && exists(mine, 1));
        meet(value, mine, 1, stretch);
      }
    }
  }

  // The part of a warp, which begins with value `first`: its node in lane 0, if it exists.
  TILEFOLD_D void fold_part(slot<acc>& node, int first) const {
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

  // Joins the stripe from value `at` on to those before it, as warp_stack does: lane `level` holds
  // the waiting node of 2^level stripes. In the end every lane has the part's node, if it exists.
  TILEFOLD_D void join_stripes(slot<acc>& node, slot<acc>& waiting, int at) const {
    node.put(cuda::shuffle_from(node.value, 0));
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
      const acc left = cuda::shuffle_from(waiting.value, level++);
      const acc both = reducer.combine_equals(left, node.value);
      node.put(both);
      at = parent;
    }
  }
};

/// The nodes of one level that lie in a piece: nodes [first, last) of the whole sequence's.
template <class Acc>
struct piece_level {
  std::int64_t first;
  std::int64_t last;
  int bits;  // a node has 2^bits items
  scratch<Acc> memory;

  /// The level whose nodes have 2^group_bits nodes of this level each.
  __device__ piece_level above(int group_bits) const {
    const std::int64_t groups = ((last - 1) >> group_bits) - (first >> group_bits) + 1;
    return {(first + (std::int64_t{1} << group_bits) - 1) >> group_bits,
            last >> group_bits,
            bits + group_bits,
            {memory.partials + (last - first), memory.arrivals + groups}};
  }
};

/// The blocks of a piece, and how its tiles are dealt out.
struct piece_length {
  static constexpr bool may_be_zero = false;

  tree::aligned_blocks blocks;
  tile_shares dealt;

  TILEFOLD_D const tree::aligned_blocks& get() const { return blocks; }
  TILEFOLD_D const tile_shares& shares(const tree::aligned_blocks&, int) const { return dealt; }
};

/// One block's work, whose whole tiles `Tiles` folds: the work of a range. The items are
/// `source`'s, and values are written through `out`.
template <class Tiles, class Source, class Reducer, class Out>
class piece_work {
  using acc = typename Reducer::accumulator;
  static constexpr int nt = Tiles::policy.nt;
  static constexpr int vt = Tiles::policy.vt;
  static constexpr int tile = nt * vt;
  static constexpr int tile_bits = tree::floor_log2(tile);
  static constexpr int group_bits = tree::floor_log2(nt * group_vt);
  static constexpr int stretch = detail::smaller(stretch_items<Source>, vt);

 public:
  static constexpr int resident_blocks = Tiles::resident_blocks;
  static constexpr bool starts_early = Tiles::starts_early;
  using shared_memory = typename Tiles::shared_memory;
  struct grid_type {
    const Reducer& reducer;
    const unfinished& init;
    const Out& out;
    shared_memory& shared;
  };

  const Source& source;
  const grid_type grid;
  const tree::aligned_blocks& blocks;

  TILEFOLD_D void run(const tile_shares& shares, const scratch<acc>& memory, shared_memory&) const {
    const std::int64_t first = blocks.begin >> tile_bits;
    const std::int64_t begin = first + shares.first(blockIdx.x);
    const std::int64_t end = first + shares.first(blockIdx.x + 1);
    const piece_level<acc> whole = whole_tiles(memory);
    const std::int64_t whole_begin = detail::larger(begin, whole.first);
    const std::int64_t whole_end = detail::smaller(end, whole.last);
    std::int64_t folded = whole_begin;
    if (whole_begin < whole_end) {
      const std::int64_t skipped = (whole.first << tile_bits) - blocks.begin;
      constexpr unsigned several = 2;  // so a tile's value is no result
      acc* const no_result = nullptr;
      const Source items = detail::starting_at(source, skipped);
      const Tiles tiles{items,
                        {grid.reducer, grid.init, no_result, grid.shared},
                        blocks.end - blocks.begin - skipped};
      folded =
          whole.first + tiles.fold_whole_tiles(
                            memory.partials, static_cast<unsigned>(whole_begin - whole.first),
                            static_cast<unsigned>(whole_end - whole.first), several, grid.shared);
    }
    // Cut tiles, and whole tiles that `Tiles` could not read because it would overread.
#pragma unroll 1
    for (std::int64_t t = begin; t < end; ++t) {
      if (t >= whole_begin && t < folded) t = folded;
      if (t < end) fold_cut_tile(t, whole);
    }
    climb_from(whole, whole_begin, whole_end);
  }

 private:
  // Writes loose nodes: of a unit that begins at item `position`, whose values have 2^bits items.
  struct block_writer {
    const piece_work& of;
    std::int64_t position;
    int bits;

    TILEFOLD_D std::int64_t item(std::int64_t at) const { return position + (at << bits); }
    TILEFOLD_D void operator()(const acc& value, int at) const { of.write_block(value, item(at)); }
  };

  TILEFOLD_D void write_block(const acc& value, std::int64_t item) const {
    cuda::write(grid.out + blocks.number_of(item), detail::finish(grid.reducer, grid.init, value));
  }

  // The tiles of which all items are the piece's.
  TILEFOLD_D piece_level<acc> whole_tiles(const scratch<acc>& memory) const {
    const bool begins_inside = (blocks.begin & (tile - 1)) != 0;
    return {(blocks.begin >> tile_bits) + (begins_inside ? 1 : 0), blocks.end >> tile_bits,
            tile_bits, memory};
  }

  TILEFOLD_D void fold_cut_tile(std::int64_t t, const piece_level<acc>& whole) const {
    const std::int64_t position = t << tile_bits;
    const item_stretches<Source, Reducer, stretch> stretches{
        source, grid.reducer, position - blocks.begin, blocks.end - blocks.begin};
    slot<acc> node;
    if (fold_unit<vt>(node, stretches, detail::larger(blocks.begin - position, std::int64_t{0}),
                      detail::smaller(blocks.end - position, std::int64_t{tile}),
                      block_writer{*this, position, 0})) {
      if (threadIdx.x == 0)
        ::new (static_cast<void*>(whole.memory.partials + (t - whole.first))) acc(node.value);
    }
  }

  template <int Vt, class Stretches>
  TILEFOLD_D bool fold_unit(slot<acc>& node, const Stretches& stretches, std::int64_t begin,
                            std::int64_t end, const block_writer& writer) const {
    const unit_fold<nt, Vt, Stretches, Reducer, block_writer> unit{
        stretches, grid.reducer, writer, static_cast<int>(begin), static_cast<int>(end)};
    if (unit.fold(node, __builtin_addressof(grid.shared.warp_values[0][0].value))) return true;
    cuda::announce(grid.out, blocks.number_of(writer.item(begin)),
                   blocks.number_of(writer.item(end)));
    return false;
  }

  // Arrives with tiles [begin, end), which this block has folded.
  TILEFOLD_D void climb_from(const piece_level<acc>& tiles, std::int64_t begin,
                             std::int64_t end) const {
#pragma unroll 1
    while (begin < end) {
      const std::int64_t g = begin >> group_bits;
      const std::int64_t next = detail::smaller(end, (g + 1) << group_bits);
      climb(tiles, g, static_cast<unsigned>(next - begin));
      begin = next;
    }
  }

  // Arrives with `arrived` nodes of group `g` of a level, which this block has folded.
  TILEFOLD_D void climb(piece_level<acc> level, std::int64_t g, unsigned arrived) const {
#pragma unroll 1
    for (;;) {
      if (level.last - level.first == 1) {
        const std::int64_t item = level.first << level.bits;
        if (threadIdx.x == 0) write_block(*level.memory.partials, item);
        cuda::announce(grid.out, blocks.number_of(item), blocks.number_of(item) + 1);
        return;
      }
      const std::int64_t unit = g << group_bits;
      const std::int64_t begin = detail::larger(level.first - unit, std::int64_t{0});
      const std::int64_t end = detail::smaller(level.last - unit, std::int64_t{1} << group_bits);
      const bool is_last =
          cuda::arrive(level.memory.arrivals + (g - (level.first >> group_bits)), arrived,
                       static_cast<unsigned>(end - begin), grid.shared.completed);
      __syncthreads();  // read by all before the next arrival writes it
      if (!is_last) return;
      slot<acc> node;
      const partial_stretches<Reducer> stretches{level.memory.partials, grid.reducer,
                                                 unit - level.first};
      if (!fold_unit<group_vt>(node, stretches, begin, end,
                               block_writer{*this, unit << level.bits, level.bits})) {
        return;
      }
      level = level.above(group_bits);
      if (threadIdx.x == 0)
        ::new (static_cast<void*>(level.memory.partials + (g - level.first))) acc(node.value);
      g >>= group_bits;
      arrived = 1;
    }
  }
};

template <int Nt, int Vt, bool Staged, class Source, class Reducer, class Out>
struct work_in_tiles<piece_length, Nt, Vt, Staged, Source, Reducer, unfinished, Out>
    : std::type_identity<
          piece_work<typename work_in_tiles<told_length, Nt, Vt, Staged, Source, Reducer,
                                            unfinished, typename Reducer::accumulator*>::type,
                     Source, Reducer, Out>> {};

}  // namespace tilefold::detail::cuda
