// SPDX-License-Identifier: Apache-2.0
//
// A range whose length stands in memory that the GPU reads (deferred_forest.hpp). Blocks are as
// many as the GPU holds, or as the longest range has tiles. Each reads the length and finds its own
// tiles, which it folds as in tile_kernel.cuh:
//
//     length      10 tiles of up to 1000; 4 blocks
//     tiles       0   1   2 | 3   4   5 | 6   7 | 8   9
//                  block 0     block 1    b. 2    b. 3
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/sched/tile_kernel.cuh>
#include <tilefold/policy.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// The only tree of a forest.
template <class Build, int Nt, int Vt, class Forest, class Reducer, class Init, class Empty,
          class Out>
__global__ void __launch_bounds__(Nt,
                                  min_resident_blocks(Nt, sizeof(typename Reducer::accumulator)))
    deferred_range_kernel(Forest forest, Reducer reducer, Init init, Empty empty, Out out,
                          scratch<typename Reducer::accumulator> memory) {
  using source_type = typename Forest::source_type;
  using work = tile_work<tile_policy{Nt, Vt}, source_type, Reducer, Init, Out>;
  __shared__ typename work::grid_type::shared_memory shared;
  cuda::wait_for_previous_launch();
  const std::int64_t n = forest.count(0);
  if (n == 0) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      cuda::write(out, detail::result_of_nothing(reducer, empty));
    }
    return;
  }
  const auto tiles = static_cast<unsigned>(tree::num_blocks(n, std::int64_t{Nt} * Vt));
  const tile_shares shares{tiles / gridDim.x, tiles % gridDim.x};
  const source_type source = forest.tree(0);
  work{source, {reducer, init, out, shared}, n}.run(shares, memory);
}

}  // namespace tilefold::detail::cuda
