// SPDX-License-Identifier: Apache-2.0
//
// What tile_kernel is given to write the values of a piece's maximal aligned blocks (tree.hpp). The
// tiles are those of the whole sequence, of which the piece is a part:
//
//     tiles     | . . 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 . |    0 and 7 are cut (piece_tree.cuh): what
//                                                          they have are blocks of the piece
//     partials            1   2   3   4   5   6            those between are folded as by reduce()
//     groups          . . 1 | 2   3   4   5 | 6 . .        of the whole sequence, too: here 2, 3...
//     level 1                       2-5                    of a group that is cut all nodes but a
//                                                          few are joined; the loose ones are
//                                                          blocks
//     blocks      0       1         2-5       6   7        written where they belong in the list
//
// As in grid_tree.cuh nobody waits: the last block to arrive folds a group. Where a block's value
// stands in the list follows from where it begins.
#pragma once

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/range/piece_tree.cuh>
#include <tilefold/detail/cuda/range/staged_tiles.cuh>
#include <tilefold/detail/cuda/range/tile_kernel.cuh>

namespace tilefold::detail::cuda {

/// Whole tiles of packets, as tile_kernel folds them.
template <tile_policy Policy, class Source, class Reducer>
struct packed_tiles {
  using acc = typename Reducer::accumulator;
  static constexpr int nt = Policy.nt;
  static constexpr int vt = Policy.vt;
  using work = tile_work<Policy, Source, Reducer, unfinished, acc*>;
  static constexpr int resident_blocks = work::resident_blocks;
  static constexpr bool starts_early = work::starts_early;
  using shared_memory = typename work::shared_memory;

  /// Folds tiles [t, end) of a source of n items, as far as they may be read as a whole, each to
  /// its place. Returns the first that may not.
  __device__ __forceinline__ static unsigned fold(const Source& source, const Reducer& reducer,
                                                  shared_memory& shared, std::int64_t n,
                                                  acc* partials, unsigned t, unsigned end) {
    constexpr unsigned several = 2;  // so a tile's value is no result
    const unfinished init{};
    acc* const no_result = nullptr;
    return work{source, {reducer, init, no_result, shared}, n}.fold_whole_tiles(partials, t, end,
                                                                                several);
  }
};

/// Whole tiles of cells, as staged_tile_work folds them.
template <class Source, class Reducer>
struct staged_tiles {
  using acc = typename Reducer::accumulator;
  using fold_type = staged_fold_of_tiles<Source, Reducer>;
  static constexpr staged_shape shape = staged_shape_of<Source, Reducer>;
  static constexpr int nt = shape.nt;
  static constexpr int vt = shape.policy().vt;
  using work = staged_tile_work<Source, Reducer, unfinished, acc*>;
  static constexpr int resident_blocks = work::resident_blocks;
  static constexpr bool starts_early = work::starts_early;
  using shared_memory = typename work::shared_memory;

  __device__ __forceinline__ static unsigned fold(const Source& source, const Reducer& reducer,
                                                  shared_memory& shared, std::int64_t n,
                                                  acc* partials, unsigned t, unsigned end) {
    const fold_type tiles(source, reducer, shared.stages);
    const auto whole = static_cast<unsigned>(
        detail::larger(n - tiles.overread_items(), std::int64_t{0}) / fold_type::tile);
    end = (min)(end, whole);
    tiles.whole_tiles(t, end, [&](const acc& value, unsigned at) {
      if (threadIdx.x == 0) ::new (static_cast<void*>(partials + at)) acc(value);
    });
    return (max)(t, end);
  }
};

/// The nodes of one level that lie in a piece: [first, last) of those of the whole sequence.
template <class Acc>
struct piece_level {
  std::int64_t first;
  std::int64_t last;
  int bits;  // a node has 2^bits items
  scratch<Acc> memory;

  /// The nodes of 2^group_bits of these each.
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

  __device__ __forceinline__ const tree::aligned_blocks& get() const { return blocks; }
  __device__ __forceinline__ const tile_shares& shares(const tree::aligned_blocks&, int) const {
    return dealt;
  }
};

/// One block's work. The items are `source`'s, and values are written through `out`.
template <class Tiles, class Source, class Reducer, class Out>
class piece_work {
  using acc = typename Reducer::accumulator;
  static constexpr int nt = Tiles::nt;
  static constexpr int tile = nt * Tiles::vt;
  static constexpr int tile_bits = tree::floor_log2(tile);
  static constexpr int group_bits = tree::floor_log2(nt * group_vt);
  static constexpr int stretch = detail::smaller(stretch_items<Source>, Tiles::vt);

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

  __device__ __forceinline__ void run(const tile_shares& shares, const scratch<acc>& memory,
                                      shared_memory&) const {
    const std::int64_t first = blocks.begin >> tile_bits;
    const std::int64_t begin = first + shares.first(blockIdx.x);
    const std::int64_t end = first + shares.first(blockIdx.x + 1);
    const piece_level<acc> whole = whole_tiles(memory);
    const std::int64_t whole_begin = detail::larger(begin, whole.first);
    const std::int64_t whole_end = detail::smaller(end, whole.last);
    std::int64_t folded = whole_begin;
    if (whole_begin < whole_end) {
      const std::int64_t skipped = (whole.first << tile_bits) - blocks.begin;
      folded =
          whole.first + Tiles::fold(detail::starting_at(source, skipped), grid.reducer, grid.shared,
                                    blocks.end - blocks.begin - skipped, memory.partials,
                                    static_cast<unsigned>(whole_begin - whole.first),
                                    static_cast<unsigned>(whole_end - whole.first));
    }
    // The first tile of all, if it is cut, the last, and what could not be read as a whole.
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

    __device__ __forceinline__ std::int64_t item(std::int64_t at) const {
      return position + (at << bits);
    }
    __device__ __forceinline__ void operator()(const acc& value, int at) const {
      of.write_block(value, item(at));
    }
  };

  __device__ __forceinline__ void write_block(const acc& value, std::int64_t item) const {
    cuda::write(grid.out + blocks.number_of(item), detail::finish(grid.reducer, grid.init, value));
  }

  // The tiles of which all items are the piece's.
  __device__ __forceinline__ piece_level<acc> whole_tiles(const scratch<acc>& memory) const {
    const bool begins_inside = (blocks.begin & (tile - 1)) != 0;
    return {(blocks.begin >> tile_bits) + (begins_inside ? 1 : 0), blocks.end >> tile_bits,
            tile_bits, memory};
  }

  __device__ __forceinline__ void fold_cut_tile(std::int64_t t,
                                                const piece_level<acc>& whole) const {
    const std::int64_t position = t << tile_bits;
    const item_stretches<Source, Reducer, stretch> stretches{
        source, grid.reducer, position - blocks.begin, blocks.end - blocks.begin};
    slot<acc> node;
    if (fold_unit<Tiles::vt>(node, stretches,
                             detail::larger(blocks.begin - position, std::int64_t{0}),
                             detail::smaller(blocks.end - position, std::int64_t{tile}),
                             block_writer{*this, position, 0})) {
      if (threadIdx.x == 0)
        ::new (static_cast<void*>(whole.memory.partials + (t - whole.first))) acc(node.value);
    }
  }

  template <int Vt, class Stretches>
  __device__ __forceinline__ bool fold_unit(slot<acc>& node, const Stretches& stretches,
                                            std::int64_t begin, std::int64_t end,
                                            const block_writer& writer) const {
    const unit_fold<nt, Vt, Stretches, Reducer, block_writer> unit{
        stretches, grid.reducer, writer, static_cast<int>(begin), static_cast<int>(end)};
    if (unit.fold(node, __builtin_addressof(grid.shared.warp_values[0][0].value))) return true;
    cuda::announce(grid.out, blocks.number_of(writer.item(begin)),
                   blocks.number_of(writer.item(end)));
    return false;
  }

  // Arrives with tiles [begin, end), which this block has folded.
  __device__ __forceinline__ void climb_from(const piece_level<acc>& tiles, std::int64_t begin,
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
  __device__ __forceinline__ void climb(piece_level<acc> level, std::int64_t g,
                                        unsigned arrived) const {
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
          piece_work<std::conditional_t<Staged, staged_tiles<Source, Reducer>,
                                        packed_tiles<tile_policy{Nt, Vt}, Source, Reducer>>,
                     Source, Reducer, Out>> {};

}  // namespace tilefold::detail::cuda
