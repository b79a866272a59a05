// SPDX-License-Identifier: Apache-2.0
//
// Very long trees are cut into slices, which are aligned blocks of a power of two of items:
//
//     tree      | slice 0 | slice 1 | slice 2 | slice 3 |   up to 1024 slices
//     blocks         b         b'        b''      b'''      each folds a slice
//     partials  [    v0        v1        v2       v3    ]   in the workspace; one counter a tree
//                    `---------+----.----+--------'
//     result                       out                      the last to arrive folds them
//
//     a slice   tile after tile, by all warps together; the tiles' values wait on a warp_stack.
//               Large accumulators and structs: an aligned part a warp, whose lanes fold stretches
//               or cells; the warps' values meet in shared memory.
//
// Device code.
#pragma once

#include <cstdint>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/fold/block_tree.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/detail/cuda/forest/forest_plan.cuh>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// Whether the warps of a block of `nt` threads stage their parts of a slice: of structs, where
/// that many stripes fit shared memory.
template <class Source, class Reducer>
constexpr bool stages_slices(int nt) {
  return stages_trees<Source, Reducer> ||
         (stages_trees_of_structs<Source, Reducer> && nt <= warps_nt);
}

/// Blocks that one SM shall hold at least.
template <class Source, class Reducer>
constexpr int min_resident_slice_blocks(int nt) {
  if constexpr (stages_trees<Source, Reducer>) return staged_shape_of<Source, Reducer>.blocks;
  if (cuda::stages_slices<Source, Reducer>(nt)) {
    return min_resident_struct_warps(sizeof(typename Reducer::accumulator)) * warp_size / nt;
  }
  return min_resident_blocks(nt, sizeof(typename Reducer::accumulator));
}

/// One block's work on slices.
template <tile_policy Policy, class Forest, class Reducer, class Init, class Out>
class slice_work {
  using acc = typename Reducer::accumulator;
  using source_type = typename Forest::source_type;
  using full_tile = tile_fold<Policy, true, source_type, Reducer>;
  using cut_tile = tile_fold<Policy, false, source_type, Reducer>;
  static constexpr bool staged = cuda::stages_slices<source_type, Reducer>(Policy.nt);

 public:
  static constexpr int nt = Policy.nt;
  struct shared_memory : tree_memory<source_type, Reducer, Policy.nt / warp_size, staged> {
    slot<acc> warp_values[2][Policy.nt / warp_size];
    bool completed;
  };

  const Forest& forest;
  const Reducer& reducer;
  const Init& init;
  const Out& out;
  acc* partials;
  unsigned* arrivals;
  shared_memory& shared;

  __device__ __forceinline__ void run(const tree_slice& slice) {
    slot<acc> value;
    fold_slice(slice, value);
    if (slice.slices == 1) {
      if (threadIdx.x == 0) write_tree(slice.tree, value.value);
      return;
    }
    acc* const first_partial = partials + slice.partial;
    if (threadIdx.x == 0) ::new (static_cast<void*>(first_partial + slice.slice)) acc(value.value);
    const auto slices = static_cast<unsigned>(slice.slices);
    const bool completed = cuda::arrive(arrivals + slice.partial, 1u, slices, shared.completed);
    __syncthreads();  // read by all before the next arrival writes it
    if (!completed) return;
    const acc all = cuda::fold_partials<Policy.nt, max_slices / Policy.nt>(
        reducer, first_partial, 0, slice.slices,
        __builtin_addressof(shared.warp_values[0][0].value));
    if (threadIdx.x == 0) write_tree(slice.tree, all);
    __syncthreads();  // warp_values are free again
  }

  __device__ __forceinline__ void write_tree(std::int64_t i, const acc& value) const {
    cuda::write(out + i, detail::finish(reducer, init, value));
  }

 private:
  // In the first warp, `result` becomes the value of the slice.
  __device__ __forceinline__ void fold_slice(const tree_slice& slice, slot<acc>& result) {
    if constexpr (folds_stretches<source_type, Reducer> || staged) {
      fold_parts(slice, result);
    } else {
      fold_tiles(slice, result);
    }
  }

  // Every warp folds an aligned part.
  __device__ __forceinline__ void fold_parts(const tree_slice& slice, slot<acc>& result) {
    constexpr int num_warps = Policy.nt / warp_size;
    using warps = block_tree<num_warps, 1, false, Reducer>;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const std::int64_t first = slice.slice * slice.size;
    const std::int64_t items = detail::smaller(slice.count - first, slice.size);
    const std::int64_t part =
        detail::larger(std::int64_t{1} << tree::ceil_log2(tree::num_blocks(items, num_warps)),
                       std::int64_t{warp_size * stretch_items<source_type>});
    const std::int64_t part_first = warp * part;
    acc* const values = __builtin_addressof(shared.warp_values[0][0].value);
    if (part_first < items) {
      warps::put(values,
                 fold_part(slice, first + part_first, detail::smaller(items - part_first, part)));
    }
    __syncthreads();
    const auto parts = static_cast<int>(tree::num_blocks(items, part));
    if (warp == 0) {
      const int mine = static_cast<int>(threadIdx.x) % num_warps;
      result.put(warps::fold_lanes(reducer, values[detail::smaller(mine, parts - 1)], mine, parts));
    }
    __syncthreads();  // warp_values are free again
  }

  __device__ __forceinline__ acc fold_part(const tree_slice& slice, std::int64_t begin,
                                           std::int64_t count) const {
    const source_type tree = forest.tree(slice.tree);
    if constexpr (staged) {
      return staged_tree<source_type, Reducer>::fold(
          tree, reducer, shared.of_warps[threadIdx.x / warp_size], begin, count, slice.count);
    } else {
      return cuda::fold_stretches_by_warp(tree, reducer, begin, count, slice.count);
    }
  }

  __device__ __forceinline__ void fold_tiles(const tree_slice& slice, slot<acc>& result) {
    const std::int64_t first = slice.slice * slice.size;
    const std::int64_t left = slice.count - first;
    const std::int64_t items = left < slice.size ? left : slice.size;
    const source_type source = forest.tree(slice.tree);
    // A full tile may overread into what follows it in the tree.
    const std::int64_t full_items = left - full_tile::overread_items(source);
    warp_stack<Reducer> stack(reducer);
    unsigned turn = 0;
    for (std::int64_t done = 0; done < items; done += Policy.tile()) {
      acc* const warp_values = __builtin_addressof(shared.warp_values[turn++ % 2][0].value);
      const std::int64_t left_in_slice = items - done;
      const auto count =
          static_cast<int>(left_in_slice < Policy.tile() ? left_in_slice : Policy.tile());
      const bool is_full = count == Policy.tile() && done + Policy.tile() <= full_items;
      const acc value = is_full ? full_tile::fold(source, reducer, first + done, count, warp_values)
                                : cut_tile::fold(source, reducer, first + done, count, warp_values);
      if (threadIdx.x < warp_size) stack.push(value);
    }
    if (threadIdx.x < warp_size) result.put(stack.value());
    __syncthreads();  // warp_values are free again
  }
};

/// All slices of `slices`, by all blocks.
template <tile_policy Policy, class Slices, class Forest, class Reducer, class Init, class Out>
__device__ __forceinline__ void fold_slices(const Slices& slices,
                                            slice_work<Policy, Forest, Reducer, Init, Out> work) {
  const std::int64_t size = slices.size(work.forest);
  for (std::int64_t s = blockIdx.x; s < size; s += gridDim.x) {
    work.run(slices.find(work.forest, s));
  }
}

}  // namespace tilefold::detail::cuda
