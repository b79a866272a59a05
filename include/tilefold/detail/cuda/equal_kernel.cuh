// SPDX-License-Identifier: Apache-2.0
//
// Trees of one length that are too long to be dealt to lanes:
//
//     equal_trees_kernel    |  tree 0  |  tree 1  |  tree 2  | ...
//       warp w              trees w, w + warps...                   (warp_tree.cuh)
//     equal_units_kernel    | u0 u1 u2 | u3 u4 u5 | u6 u7 u8 | ...  unit_items items a unit
//       block b             units b, b + blocks...                  (unit_fold.cuh)
//
// These are two kernels: in one, each part would pay for the registers of the other
// (docs/tuning.md).
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/tile_kernel.cuh>
#include <tilefold/detail/cuda/unit_fold.cuh>
#include <tilefold/detail/cuda/warp_tree.cuh>
#include <tilefold/detail/forest.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// Where units come from when all trees are long and of one length.
struct equal_units {
  std::int64_t unit_items;

  template <class Forest>
  __device__ std::int64_t size(const Forest& forest) const {
    return forest.size() * tree::num_blocks(forest.length, unit_items);
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
};

template <class Build, int Nt, int Vt, class Forest, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(Nt,
                                  min_resident_blocks(Nt, sizeof(typename Reducer::accumulator)))
    equal_units_kernel(equal_units units, Forest forest, Reducer reducer, Init init, Out out,
                       typename Reducer::accumulator* slots, unsigned* arrivals) {
  using work_type = unit_work<tile_policy{Nt, Vt}, Forest, Reducer, Init, Out>;
  __shared__ typename work_type::shared_memory shared;
  cuda::wait_for_previous_launch();
  cuda::fold_units(units, work_type{forest, reducer, init, out, slots, arrivals, shared});
}

template <class Build, class Forest, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(
    warps_nt, warps_for_trees<typename Forest::source_type>(sizeof(typename Reducer::accumulator)) *
                  warp_size / warps_nt)
    equal_trees_kernel(Forest forest, Reducer reducer, Init init, Out out) {
  constexpr int warps_per_block = warps_nt / warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t warps = std::int64_t{gridDim.x} * warps_per_block;
  cuda::wait_for_previous_launch();
  for (std::int64_t t = std::int64_t{blockIdx.x} * warps_per_block + warp; t < forest.size();
       t += warps) {
    const auto value = cuda::fold_by_warp(forest.tree(t), reducer, forest.length);
    if (threadIdx.x % warp_size == 0) {
      cuda::write(out + t, detail::finish(reducer, init, value));
    }
  }
}

}  // namespace tilefold::detail::cuda
