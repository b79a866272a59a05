// SPDX-License-Identifier: Apache-2.0
//
// The launch for trees that are too long to be dealt to lanes. Those that are very long are cut
// into units that are aligned blocks; a block folds a unit, and whoever completes the units of a
// tree folds their values. The others are for a warp each.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/detail/cuda/block_fold.cuh>
#include <tilefold/detail/cuda/dealt_fold.cuh>
#include <tilefold/detail/cuda/forest_plan.cuh>
#include <tilefold/detail/cuda/tile_kernel.cuh>
#include <tilefold/detail/cuda/warp_tree.cuh>
#include <tilefold/detail/forest.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// A unit of a long tree: items [unit * size, (unit + 1) * size) of it, as far as they exist.
struct long_unit {
  std::int64_t tree;
  std::int64_t count;  // of the whole tree
  std::int64_t size;
  int unit;
  int units;
  unsigned slot;  // of the tree's first unit
};

/// Where units come from when the first launch has queued them.
template <class Acc>
struct queued_units {
  long_queue<Acc> queue;

  template <class Forest>
  __device__ std::int64_t size(const Forest& forest) const {
    const unsigned trees = queue.num_trees();
    if (trees == 0) return 0;
    const long_tree& last = queue.trees[trees - 1];
    return last.first_unit + tree::num_blocks(forest.count(last.tree), last.unit_items);
  }

  template <class Forest>
  __device__ long_unit find(const Forest& forest, std::int64_t u) const {
    unsigned low = 0;
    for (unsigned high = queue.num_trees(); high - low > 1;) {
      const unsigned middle = low + (high - low) / 2;
      (queue.trees[middle].first_unit <= u ? low : high) = middle;
    }
    const long_tree& entry = queue.trees[low];
    const std::int64_t count = forest.count(entry.tree);
    return {entry.tree,
            count,
            entry.unit_items,
            static_cast<int>(u - entry.first_unit),
            static_cast<int>(tree::num_blocks(count, entry.unit_items)),
            entry.first_slot};
  }

  /// How many trees are for warps.
  template <class Forest>
  __device__ std::int64_t num_middle(const Forest&) const {
    return static_cast<std::int64_t>(queue.state->num_middle);
  }

  /// Called by every thread when its block is done; the last block leaves the counters as they
  /// were.
  __device__ void finish() const {
    __syncthreads();
    if (threadIdx.x != 0) return;
    __threadfence();
    if (atomicAdd(&queue.state->blocks_done, 1u) + 1 == gridDim.x) {
      *queue.state = typename long_queue<Acc>::counters{};
    }
  }
};

/// Where units come from when all trees are long and of one length.
struct equal_units {
  std::int64_t trees;
  std::int64_t unit_items;

  template <class Forest>
  __device__ std::int64_t size(const Forest& forest) const {
    return trees * tree::num_blocks(forest.length, unit_items);
  }
  template <class Forest>
  __device__ long_unit find(const Forest& forest, std::int64_t u) const {
    const auto units = tree::num_blocks(forest.length, unit_items);
    const std::int64_t t = u / units;
    return {t,
            forest.length,
            unit_items,
            static_cast<int>(u - t * units),
            static_cast<int>(units),
            static_cast<unsigned>(t * units)};
  }
  template <class Forest>
  __device__ std::int64_t num_middle(const Forest& forest) const {
    return trees > 0 ? 0 : forest.size();
  }
  __device__ void finish() const {}
};

/// One block's work in the second launch.
template <tile_policy Policy, class Forest, class Reducer, class Init, class Out>
class unit_work {
  using acc = typename Reducer::accumulator;
  using source_type = typename Forest::source_type;
  using full_tile = tile_fold<Policy, true, source_type, Reducer>;
  using cut_tile = tile_fold<Policy, false, source_type, Reducer>;
  using partials_source = detail::source<const acc*>;
  using group_reducer = partials_reducer<Reducer>;
  using units_fold = tile_fold<tile_policy{Policy.nt, max_units / Policy.nt}, false,
                               partials_source, group_reducer>;

 public:
  struct shared_memory {
    slot<acc> warp_values[2][Policy.nt / warp_size];
    bool completed;
  };

  const Forest& forest;
  const Reducer& reducer;
  const Init& init;
  const Out& out;
  acc* slots;
  unsigned* arrivals;
  shared_memory& shared;

  __device__ __forceinline__ void run(const long_unit& unit) {
    slot<acc> value;
    fold_unit(unit, value);
    if (unit.units == 1) {
      if (threadIdx.x == 0) keep(unit.tree, value.value);
      return;
    }
    acc* const first_slot = slots + unit.slot;
    if (threadIdx.x == 0) new (first_slot + unit.unit) acc(value.value);
    const auto units = static_cast<unsigned>(unit.units);
    const bool completed = cuda::arrive(arrivals + unit.slot, 1u, units, shared.completed);
    __syncthreads();  // read by all before the next arrival writes it
    if (!completed) return;
    const acc all = units_fold::fold(partials_source{{first_slot}}, group_reducer{reducer}, 0,
                                     unit.units, &shared.warp_values[0][0].value);
    if (threadIdx.x == 0) keep(unit.tree, all);
    __syncthreads();  // warp_values are free again
  }

 private:
  // In the first warp, `result` becomes the value of the unit.
  __device__ __forceinline__ void fold_unit(const long_unit& unit, slot<acc>& result) {
    if constexpr (folds_runs<source_type, Reducer>) {
      fold_parts(unit, result);
    } else {
      fold_tiles(unit, result);
    }
  }

  // Every warp folds an aligned part.
  __device__ __forceinline__ void fold_parts(const long_unit& unit, slot<acc>& result) {
    constexpr int num_warps = Policy.nt / warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t first = unit.unit * unit.size;
    const std::int64_t items = detail::smaller(unit.count - first, unit.size);
    const std::int64_t part =
        detail::larger(std::int64_t{1} << tree::ceil_log2(tree::num_blocks(items, num_warps)),
                       std::int64_t{warp_size * run_items<source_type>});
    const std::int64_t part_first = warp * part;
    acc* const values = &shared.warp_values[0][0].value;
    if (part_first < items) {
      const acc mine =
          cuda::fold_runs_by_warp(forest.tree(unit.tree), reducer, first + part_first,
                                  detail::smaller(items - part_first, part), unit.count);
      if (lane == 0) new (values + warp) acc(mine);
    }
    __syncthreads();
    const auto parts = static_cast<int>(tree::num_blocks(items, part));
    if (warp == 0) {
      const int mine = lane % num_warps;
      registers<acc, 1> node;
      node.put(0, values[detail::smaller(mine, parts - 1)]);
      using parts_fold = row_fold<1, 1, false, Reducer, num_warps>;
      result.put(parts_fold(reducer, 0, parts, mine).fold(node));
    }
    __syncthreads();  // warp_values are free again
  }

  __device__ __forceinline__ void fold_tiles(const long_unit& unit, slot<acc>& result) {
    const std::int64_t first = unit.unit * unit.size;
    const std::int64_t left = unit.count - first;
    const std::int64_t items = left < unit.size ? left : unit.size;
    const source_type source = forest.tree(unit.tree);
    // A full tile may overread into what follows it in the tree.
    const std::int64_t full_items = left - full_tile::overread_items(source);
    warp_stack<Reducer> stack(reducer);
    unsigned turn = 0;
    for (std::int64_t done = 0; done < items; done += Policy.tile()) {
      acc* const warp_values = &shared.warp_values[turn++ % 2][0].value;
      const std::int64_t left_in_unit = items - done;
      const auto count =
          static_cast<int>(left_in_unit < Policy.tile() ? left_in_unit : Policy.tile());
      const bool is_full = count == Policy.tile() && done + Policy.tile() <= full_items;
      const acc value = is_full ? full_tile::fold(source, reducer, first + done, count, warp_values)
                                : cut_tile::fold(source, reducer, first + done, count, warp_values);
      if (threadIdx.x < warp_size) stack.push(value);
    }
    if (threadIdx.x < warp_size) result.put(stack.value());
    __syncthreads();  // warp_values are free again
  }

  __device__ __forceinline__ void keep(std::int64_t i, const acc& value) const {
    cuda::write(out + i, detail::finish(reducer, init, value));
  }
};

/// The trees that are too long to be dealt and not for blocks, each by a warp.
template <class Forest, class Reducer, class Init, class Out>
class middle_work {
  static constexpr int items = run_items<typename Forest::source_type>;
  using trees_type = lane_trees<Forest, items>;

 public:
  const Forest& forest;
  const Reducer& reducer;
  const Init& init;
  const Out& out;
  std::int64_t warp_items;

  /// There are `num_middle` >= 1 of them; this is warp `warp` of `warps`. A warp looks at as many
  /// neighbouring trees at a time as are likely to hold one: neighbouring warps then read
  /// neighbouring trees.
  __device__ __forceinline__ void run(std::int64_t num_middle, std::int64_t warp,
                                      std::int64_t warps) const {
    const std::int64_t size = forest.size();
    const auto group = static_cast<int>(
        detail::bounded(size / num_middle, std::int64_t{1}, std::int64_t{warp_size}));
    const std::int64_t groups = tree::num_blocks(size, group);
    trees_type next = look_at(warp * group, group);
    for (std::int64_t g = warp; g < groups; g += warps) {
      const Forest part = forest.from(g * group);
      const trees_type trees = next;
      next = look_at((g + warps) * group, group);  // comes while these are folded
      unsigned middle = __ballot_sync(full_warp, trees.length == deal<items>::for_warps);
      for (; middle != 0; middle &= middle - 1) {
        const int owner = __ffs(static_cast<int>(middle)) - 1;
        const auto value =
            cuda::fold_by_warp(trees.tree(part, 0, owner), reducer, trees.count(owner));
        if (threadIdx.x % warp_size == 0) {
          cuda::write(out + (g * group + owner), detail::finish(reducer, init, value));
        }
      }
    }
  }

 private:
  // `group` trees from `begin` on, as far as they exist.
  __device__ __forceinline__ trees_type look_at(std::int64_t begin, int group) const {
    const std::int64_t left = forest.size() - begin;
    const int num = left < group ? static_cast<int>(left) : group;
    return {forest.from(begin), 0, num, warp_items};
  }
};

template <class Build, int Nt, int Vt, class Units, class Forest, class Reducer, class Init,
          class Out>
__global__ void __launch_bounds__(Nt,
                                  min_resident_blocks(Nt, sizeof(typename Reducer::accumulator)))
    long_kernel(Units units, Forest forest, Reducer reducer, Init init, Out out,
                typename Reducer::accumulator* slots, unsigned* arrivals, std::int64_t warp_items) {
  using work_type = unit_work<tile_policy{Nt, Vt}, Forest, Reducer, Init, Out>;
  __shared__ typename work_type::shared_memory shared;
  work_type work{forest, reducer, init, out, slots, arrivals, shared};
  const std::int64_t size = units.size(forest);
  for (std::int64_t u = blockIdx.x; u < size; u += gridDim.x) work.run(units.find(forest, u));
  const std::int64_t num_middle = units.num_middle(forest);
  if (num_middle > 0) {
    constexpr int warps_per_block = Nt / warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    middle_work<Forest, Reducer, Init, Out>{forest, reducer, init, out, warp_items}.run(
        num_middle, std::int64_t{blockIdx.x} * warps_per_block + warp,
        std::int64_t{gridDim.x} * warps_per_block);
  }
  units.finish();
}

}  // namespace tilefold::detail::cuda
