// SPDX-License-Identifier: Apache-2.0
//
// The tree over the partials that blocks of a launch write. The last to arrive folds a group:
//
//     partials   0   1   2   3 | 4   5   6   7 | 8   9    values in the workspace, groups of 4 here
//     arrivals   `-----.-----'   `-----.-----'   `-.-'    a counter a group
//     level 1          0               1           2      the block that completes a group keeps
//                      `---------------+-----------'      its value, and arrives one level up
//     level 2                          0                  the last block of all has the root
//
// No block waits: one that completes no group leaves. Groups are aligned powers of two, so this is
// the neighbour tree. grid_tree counts and climbs, and its caller folds groups: partials_fold does
// for the partials of one range, in groups of nt * group_vt.
#pragma once

#include <tilefold/detail/cuda/fold/tile_fold.cuh>

namespace tilefold::detail::cuda {

/// Scratch of one launch: the partials of all levels, one level after the other; an arrival counter
/// per group of each level, zero before the launch and zero again after it.
template <class Acc>
struct scratch {
  Acc* partials;
  unsigned* arrivals;
};

/// Counts `arrived` partials that this thread has written, of a group of `group_size`. Returns
/// whether that completes the group: then the partials of the other threads can be read.
TILEFOLD_D bool count_in(unsigned* arrivals, unsigned arrived, unsigned group_size) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(arrivals), "r"(arrived)
               : "memory");
  if (before + arrived != group_size) return false;
  *arrivals = 0;  // no block comes after; zero for the next launch
  return true;
}

/// Counts `arrived` partials that this block has written, of a group of `group_size`. Returns in
/// every thread whether that completes the group. The block's first thread has written the
/// partials, or a barrier stands between the other threads' writes and this call. `completed` is
/// shared memory, which the next call may write once all have read it.
TILEFOLD_D bool arrive(unsigned* arrivals, unsigned arrived, unsigned group_size, bool& completed) {
  if (threadIdx.x == 0) completed = cuda::count_in(arrivals, arrived, group_size);
  __syncthreads();
  return completed;
}

/// A group whose partials are all there, and where its value belongs.
template <class Acc>
struct complete_group {
  Acc* partials;   // of its level
  unsigned first;  // number of the group's first partial
  unsigned size;
  Acc* above;          // partials of the next level
  unsigned number;     // of the group in its level, and of its value among `above`
  unsigned neighbors;  // values above; a single one is the root's, which needs no place
};

/// The tree over `count` partials in groups of `group`. Of trees that stand side by side, partials
/// are `stride` accumulators apart, and counters `trees`.
template <class Acc>
struct grid_tree {
  scratch<Acc> memory;
  unsigned count;
  unsigned group;
  std::int64_t stride = 1;
  unsigned trees = 1;

  /// Arrives with partials [begin, end), which this block has written, as arrive() asks. Calls
  /// fold(complete_group) for the groups that this completes, level by level, which writes a value.
  template <class Fold>
  TILEFOLD_D void climb_from(unsigned begin, unsigned end, bool& completed,
                             const Fold& fold) const {
    if (count == 1) return;
    while (begin < end) {
      const unsigned g = begin / group;
      const unsigned next = (min)(end, (g + 1) * group);
      climb(g, next - begin, completed, fold);
      begin = next;
    }
  }

  /// climb_from() with `arrived` partials of group `g` alone.
  template <class Fold>
  TILEFOLD_D void climb(unsigned g, unsigned arrived, bool& completed, const Fold& fold) const {
    scratch<Acc> level = memory;
    for (unsigned left = count; left > 1;) {
      const unsigned groups = (left + group - 1) / group;
      const unsigned size = (min)(group, left - g * group);
      const bool is_last = cuda::arrive(level.arrivals + g * trees, arrived, size, completed);
      __syncthreads();  // read by all before the next arrival writes it
      if (!is_last) return;
      fold(complete_group<Acc>{level.partials, g * group, size, level.partials + left * stride, g,
                               groups});
      level.partials += left * stride;
      level.arrivals += groups * trees;
      left = groups;
      g /= group;
      arrived = 1;
    }
  }
};

/// Folds partials, which are accumulators already.
template <class Reducer>
struct partials_reducer {
  using accumulator = typename Reducer::accumulator;
  static constexpr bool commutative = Reducer::commutative;
  static constexpr bool may_pad = fold_traits<Reducer>::pads;
  const Reducer& reducer;

  TILEFOLD_D static accumulator neutral() { return Reducer::neutral(); }
  TILEFOLD_D const accumulator& lift(const accumulator& value) const { return value; }
  TILEFOLD_D accumulator combine(const accumulator& a, const accumulator& b) const {
    return reducer.combine(a, b);
  }
};

/// The fold of partials [first, first + count), at most Nt * Vt, as a tile.
template <int Nt, int Vt, class Reducer, class Acc>
TILEFOLD_D Acc fold_partials(const Reducer& reducer, const Acc* partials, std::int64_t first,
                             int count, Acc* warp_values) {
  using source_type = detail::source<const Acc*>;
  using group_reducer = partials_reducer<Reducer>;
  return tile_fold<tile_policy{Nt, Vt}, false, source_type, group_reducer>::fold(
      source_type{{partials}}, group_reducer{reducer}, first, count, warp_values);
}

/// How a block of Nt threads writes the nodes of one range that it has folded, and climbs.
template <int Nt, class Reducer, class Init, class Out>
class partials_fold {
  using acc = typename Reducer::accumulator;

 public:
  // Two sets of warp values in turn, so that a barrier a tile is enough.
  struct shared_memory {
    slot<acc> warp_values[2][Nt / warp_size];
    bool completed;
  };

  const Reducer& reducer;
  const Init& init;
  const Out& out;
  shared_memory& shared;

  /// The set for a tile: neighbouring tiles have different ones.
  TILEFOLD_D acc* warp_values(unsigned tile) const {
    return __builtin_addressof(shared.warp_values[tile % 2][0].value);
  }

  /// Writes the value of a node: as a partial, or as the result if `count` of its level is 1.
  TILEFOLD_D void write_node(const acc& value, acc* partial, unsigned count) const {
    if (threadIdx.x != 0) return;
    if (count > 1) {
      ::new (static_cast<void*>(partial)) acc(value);
    } else {
      cuda::write(out, detail::finish(reducer, init, value));
    }
  }

  /// Called after write_node() of this block's nodes, [begin, end) of `count`: folds the groups
  /// that this block completes, level by level.
  TILEFOLD_D void climb_from(scratch<acc> memory, unsigned begin, unsigned end,
                             unsigned count) const {
    tree_of(memory, count).climb_from(begin, end, shared.completed, group_fold{*this});
  }

 private:
  static constexpr unsigned group = Nt * group_vt;

  struct group_fold {
    const partials_fold& of;

    TILEFOLD_D void operator()(const complete_group<acc>& g) const {
      of.write_node(cuda::fold_partials<Nt, group_vt>(of.reducer, g.partials, g.first,
                                                      static_cast<int>(g.size), of.warp_values(0)),
                    g.above + g.number, g.neighbors);
    }
  };

  TILEFOLD_D static grid_tree<acc> tree_of(scratch<acc> memory, unsigned count) {
    return {memory, count, group};
  }
};

}  // namespace tilefold::detail::cuda
