// SPDX-License-Identifier: Apache-2.0
//
// A tree of any length by one warp, as nodes of equally many items, the last one perhaps of fewer:
//
//     tree          | node 0 | node 1 | node 2 | node 3 | node 4 |
//     stretches     a node is of 32 stretches, one a lane (lane_plan.cuh); the items of the next
//                   node are loaded while this one is folded
//     or stripes    a node is of a stripe of cells in shared memory (staged_stripes.cuh)
//     or tiles      a node is of 32 * vt items in stripes (tile_fold.cuh)
//     warp_stack    lane 0: node 4      lane 1: -      lane 2: nodes 0 to 3
//                   lane l holds the value of 2^l nodes, which waits for a right neighbour
//     value()       nodes 0 to 3 with node 4
//
// fold_by_warp() takes stretches for pointers to items of 4 to 8 bytes, and for accumulators that
// are large for their items, unless single folds of these are staged: then stripes.
#pragma once

#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/staged_stripes.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>

namespace tilefold::detail::cuda {

/// Whether a warp stages its trees of structs, and a cell of theirs: stripes of 4 KiB or so, so
/// that four blocks of an SM have two for each warp.
constexpr int tree_cell_of_structs(int item_bytes) {
  return cuda::cell_of_structs(item_bytes, 128, 160);
}
constexpr bool pays_to_stage_trees_of_structs(int item_bytes, std::int64_t acc_bytes) {
  return acc_bytes == item_bytes && item_bytes % 4 == 0 && item_bytes >= 12 && item_bytes <= 128 &&
         cuda::tree_cell_of_structs(item_bytes) > 0;
}

template <class Source>
inline constexpr tile_policy warp_policy{warp_size, policy_for(item_bytes<Source>).vt};

/// Whether stretches come from memory in whole vectors, and are of items large enough.
template <class Source>
inline constexpr bool loads_stretches =
    all_stretch_vectors<Source> && stretch_items<Source> >= least_loaded_stretch;

/// Warps that an SM shall hold where each folds trees.
template <class Source>
constexpr int warps_for_trees(std::size_t acc_bytes) {
  return min_resident_warps(loads_stretches<Source>, acc_bytes);
}

/// An aligned block of `count` >= 1 items, from item `begin` on, of a tree of `total`, by a warp
/// whose lanes fold stretches; the result is in every lane. `Fresh`, `AtOnce` as of stretch_fold.
template <class Source, class Reducer, bool ByPackets = folds_stretches<Source, Reducer>,
          bool Fresh = false, bool AtOnce = lifts_stretches<Source, Reducer>>
TILEFOLD_D typename Reducer::accumulator fold_stretches_by_warp(const Source& tree,
                                                                const Reducer& reducer,
                                                                std::int64_t begin,
                                                                std::int64_t count,
                                                                std::int64_t total) {
  using fold_type = stretch_fold<Source, Reducer, ByPackets, Fresh, AtOnce>;
  constexpr int items_of_lane = stretch_items<Source>;
  constexpr int stripe_items = warp_size * items_of_lane;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  warp_stack<Reducer> stack(reducer);
  cuda::stream_ahead<fold_type>(
      std::int64_t{0},
      [&](std::int64_t& next) {
        next += stripe_items;
        return next < count;
      },
      [&](std::int64_t done) {
        const auto items =
            static_cast<int>(detail::smaller(count - done, std::int64_t{stripe_items}));
        const std::int64_t first = begin + done + lane * items_of_lane;
        const bool inner =
            first > 0 &&
            (total - first - items_of_lane) * least_item_bytes<Source> >= std::int64_t{load_bytes};
        fold_type loaded(reducer, lane, items);
        loaded.load(tree, begin + done, inner);
        return loaded;
      },
      [&](fold_type& now, std::int64_t done) {
        if (!ByPackets && done + stripe_items <= count) {
          stack.push(now.fold_whole_stripe());
        } else {
          stack.push(cuda::shuffle_from(now.fold(), 0));
        }
      });
  return stack.value();
}

/// Whether a warp folds a tree by stripes in shared memory, as a single fold does.
template <class Source, class Reducer>
inline constexpr bool stages_trees =
    folds_stretches<Source, Reducer> && stages_reducer<Source, Reducer> && !sums_exactly<Reducer> &&
    !fold_traits<Reducer>::order_free;

/// Whether a warp folds a tree of structs by stripes in shared memory.
template <class Source, class Reducer>
inline constexpr bool stages_trees_of_structs =
    holds_structs<Source> && !folds_stretches<Source, Reducer> &&
    pays_to_stage_trees_of_structs(staged_bytes<Source>, sizeof(typename Reducer::accumulator)) &&
    !sums_exactly<Reducer> && !fold_traits<Reducer>::order_free;

/// Items of a lane's cell.
template <class Source, class Reducer>
inline constexpr int tree_cell =
    stages_trees_of_structs<Source, Reducer> ? tree_cell_of_structs(staged_bytes<Source>)
                                             : staged_shape_of<Source, Reducer>.cell;

/// A tree, or an aligned block of it, by a warp: whole stripes, of which the next is always on its
/// way in the other stage, then the rest by stretches, or, of small structs, by a cut stripe.
template <class Source, class Reducer>
class staged_tree {
  using acc = typename Reducer::accumulator;
  using stripes_type = staged_stripes<Source, Reducer, tree_cell<Source, Reducer>>;
  using stage = typename stripes_type::stage;
  static constexpr int stripe_items = stripes_type::items;

 public:
  /// A warp's own.
  struct shared_memory {
    stage stages[2];
  };

  /// The fold of items [begin, begin + count) of a tree of `total`, count >= 1, in every lane.
  TILEFOLD_D static acc fold(const Source& tree, const Reducer& reducer, shared_memory& memory,
                             std::int64_t begin, std::int64_t count, std::int64_t total) {
    const among_equals<Reducer> equals{reducer};
    const stripes_type stripes(tree, reducer, memory.stages);
    warp_stack<Reducer> stack(reducer);
    const std::int64_t whole = detail::smaller(count, total - begin - stripes.overread_items());
    std::int64_t done = 0;
    fill(memory.stages[0], detail::starting_at(tree, begin), whole);
    int now = 0;
#pragma unroll 1
    for (; whole - done >= stripe_items; done += stripe_items) {
      const std::int64_t first = begin + done;
      fill(memory.stages[now ^ 1], detail::starting_at(tree, first + stripe_items),
           whole - done - stripe_items);
      cuda::finish_stage<1>();
      registers<acc, 1> node;
      node.put(0, stripes.node_of(memory.stages[now], detail::starting_at(tree, first), first));
      stack.push(
          stripe_fold<1, stripes_type::cell, true, among_equals<Reducer>>(equals, 0, 0).fold(node));
      now ^= 1;
    }
    if constexpr (stages_rest) {
      cuda::finish_stage<0>();
      const auto left = static_cast<int>(count - done);
      if (left > 0) {
        registers<acc, 1> node;
        stripes.put_node(node, memory.stages[now], detail::starting_at(tree, begin + done),
                         begin + done, left);
        stack.push(stripe_fold<1, stripes_type::cell, false, Reducer>(reducer, 0, left).fold(node));
      }
    } else if constexpr (stages_trees_of_structs<Source, Reducer>) {
      constexpr tile_policy one_stripe{warp_size, stripes_type::cell};
      if (done < count) {
        stack.push(tile_fold<one_stripe, false, Source, Reducer>::fold(
            tree, reducer, begin + done, static_cast<int>(count - done), nullptr));
      }
    } else {
      // This is more than a stripe if the last whole stripe would have overread.
#pragma unroll 1
      for (; done < count; done += stripe_items) {
        stack.push(cuda::fold_stretches_by_warp(
            tree, reducer, begin + done, detail::smaller(count - done, std::int64_t{stripe_items}),
            total));
      }
    }
    return stack.value();
  }

 private:
  static constexpr bool stages_rest =
      stages_trees_of_structs<Source, Reducer> && staged_bytes<Source> <= most_cut_struct_bytes;

  // The next stripe, of which `left` items or more exist.
  TILEFOLD_D static void fill(stage& next, const Source& source, std::int64_t left) {
    if (left >= stripe_items) {
      next.fill(source);
    } else if (stages_rest && left > 0) {
      if constexpr (stages_rest) next.fill(source, static_cast<int>(left));
    } else {
      cuda::commit_stage();  // of nothing
    }
  }
};

/// Whether a warp stages the trees that are its own.
template <class Source, class Reducer>
inline constexpr bool stages_trees_by_warp =
    stages_trees<Source, Reducer> || stages_trees_of_structs<Source, Reducer>;

/// Shared memory with which the warps of a block fold trees, if they need any.
template <class Source, class Reducer, int Warps, bool = stages_trees<Source, Reducer>>
struct tree_memory {};
template <class Source, class Reducer, int Warps>
struct tree_memory<Source, Reducer, Warps, true> {
  typename staged_tree<Source, Reducer>::shared_memory of_warps[Warps];
};

/// A tree of any length >= 1 by a warp, a tile at a time; the result is in every lane.
template <class Source, class Reducer>
TILEFOLD_D typename Reducer::accumulator fold_by_warp(const Source& tree, const Reducer& reducer,
                                                      std::int64_t count) {
  if constexpr (folds_stretches<Source, Reducer> || loads_stretches<Source>) {
    return cuda::fold_stretches_by_warp(tree, reducer, 0, count, count);
  } else {
    constexpr int tile = warp_policy<Source>.tile();
    using full_tile = tile_fold<warp_policy<Source>, true, Source, Reducer>;
    using cut_tile = tile_fold<warp_policy<Source>, false, Source, Reducer>;
    const std::int64_t full_items = count - full_tile::overread_items(tree);
    warp_stack<Reducer> stack(reducer);
    std::int64_t done = 0;
#pragma unroll 1
    for (; done + tile <= full_items; done += tile) {
      stack.push(full_tile::fold(tree, reducer, done, tile, nullptr));
    }
#pragma unroll 1
    for (; done < count; done += tile) {
      const auto items = static_cast<int>(detail::smaller(count - done, std::int64_t{tile}));
      stack.push(cut_tile::fold(tree, reducer, done, items, nullptr));
    }
    return stack.value();
  }
}

/// fold_by_warp() in stripes out of the block's tree_memory, if the block has one.
template <class Source, class Reducer, class Memory>
TILEFOLD_D typename Reducer::accumulator fold_by_warp(const Source& tree, const Reducer& reducer,
                                                      std::int64_t count,
                                                      [[maybe_unused]] Memory& memory) {
  if constexpr (requires { memory.of_warps; }) {
    return staged_tree<Source, Reducer>::fold(
        tree, reducer, memory.of_warps[threadIdx.x / warp_size], 0, count, count);
  } else {
    return cuda::fold_by_warp(tree, reducer, count);
  }
}

/// Writes the result of a tree whose exact sum is not narrow to `out`, by a whole state. A function
/// call, because rare code must not take the registers of common code.
template <class Source, class Reducer, class Init, class Out>
__device__ TILEFOLD_APART void write_wide_sum(Source tree, Reducer reducer, Init init, Out out,
                                              std::int64_t count) {
  const auto value = cuda::fold_by_warp(tree, reducer, count);
  if (threadIdx.x % warp_size == 0) cuda::write(out, detail::finish(reducer, init, value));
}

/// Writes the exact sum of one tree of `count` >= 1 items to `out`, by a warp.
template <class Source, class Reducer, class Init, class Out>
TILEFOLD_D void write_exact_sum(const Source& tree, const Reducer& reducer, const Init& init,
                                const Out& out, std::int64_t count) {
  exact_lanes<Reducer>::template write_by_warp<true>(
      0, 1, 1, count, [&](std::int64_t) { return tree; }, reducer, init, out);
}

}  // namespace tilefold::detail::cuda
