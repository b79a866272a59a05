// SPDX-License-Identifier: Apache-2.0
//
// Very long trees are cut into units, which are aligned blocks of a power of two of items:
//
//     tree      | unit 0 | unit 1 | unit 2 | u 3 |     up to 1024 units
//     blocks        b        b'       b''    b'''      each folds a unit
//     slots     [   v0       v1       v2     v3  ]     in the workspace; one counter a tree
//                   `--------+---.----+------'
//     result                    out                    the last block to arrive folds the slots
//
//     a unit    tile after tile, by all warps together; the tiles' values wait on a warp_stack.
//               Large accumulators: an aligned part a warp, whose lanes fold long runs; the warps'
//               values meet in shared memory.
//
// Device code.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/detail/cuda/block_fold.cuh>
#include <tilefold/detail/cuda/dealt_fold.cuh>
#include <tilefold/detail/cuda/fold/block_tree.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/forest_plan.cuh>
#include <tilefold/detail/cuda/warp_tree.cuh>
#include <tilefold/detail/extremes.hpp>
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

/// One block's work on units.
template <tile_policy Policy, class Forest, class Reducer, class Init, class Out>
class unit_work {
  using acc = typename Reducer::accumulator;
  using source_type = typename Forest::source_type;
  using full_tile = tile_fold<Policy, true, source_type, Reducer>;
  using cut_tile = tile_fold<Policy, false, source_type, Reducer>;

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
    const acc all = cuda::fold_partials<Policy.nt, max_units / Policy.nt>(
        reducer, first_slot, 0, unit.units, &shared.warp_values[0][0].value);
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
    using warps = block_tree<num_warps, 1, false, Reducer>;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
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
      warps::put(values, mine);
    }
    __syncthreads();
    const auto parts = static_cast<int>(tree::num_blocks(items, part));
    if (warp == 0) {
      const int mine = static_cast<int>(threadIdx.x) % num_warps;
      result.put(warps::fold_lanes(reducer, values[detail::smaller(mine, parts - 1)], mine, parts));
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

/// All units of `units`, by all blocks.
template <tile_policy Policy, class Units, class Forest, class Reducer, class Init, class Out>
__device__ __forceinline__ void fold_units(const Units& units,
                                           unit_work<Policy, Forest, Reducer, Init, Out> work) {
  const std::int64_t size = units.size(work.forest);
  for (std::int64_t u = blockIdx.x; u < size; u += gridDim.x) {
    work.run(units.find(work.forest, u));
  }
}

}  // namespace tilefold::detail::cuda
