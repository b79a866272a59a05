// SPDX-License-Identifier: Apache-2.0
//
// A forest of which every tree is short, as was promised (segment_bound.hpp): nobody looks, and
// nothing is left to others.
//
//     forest      | group 0 | group 1 | ...      warp w: groups w, w + warps..., a tree a lane
//     a lane      folds its tree, while the next offsets come (short_trees.cuh)
//
// Device code.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/fold/short_trees.cuh>
#include <tilefold/detail/cuda/sched/tile_kernel.cuh>
#include <tilefold/detail/forest.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

template <class Build, int Items, int Blocks, class Forest, class Reducer, class Init, class Empty,
          class Out>
__global__ void __launch_bounds__(lanes_nt, blocks_that_fit(Blocks, lanes_nt))
    bounded_trees_kernel(Forest forest, Reducer reducer, Init init, Empty empty, Out out) {
  cuda::wait_for_previous_launch();
  const auto trees = static_cast<int>(forest.size());
  const auto step = static_cast<int>(gridDim.x * lanes_nt);
  const element_range all = forest.all_items();
  int t = static_cast<int>(blockIdx.x * lanes_nt + threadIdx.x);
  const auto read = [&](std::int64_t& begin, int& count) {
    count = 0;
    if (t >= trees) return;
    begin = forest.first(t);
    count = static_cast<int>(detail::larger(forest.count(t), std::int64_t{0}));
  };
  std::int64_t begin = 0;
  int count;
  read(begin, count);
  while (__any_sync(full_warp, t < trees)) {
    const int mine = t;
    const int items = count;
    const bool inner = begin - all.begin >= load_bytes && all.end - begin - items >= load_bytes;
    tree_of_lane<typename Forest::source_type, Reducer, Items> tree;
    tree.load(detail::starting_at(forest.source, begin), items,
              __all_sync(full_warp, items == 0 || inner));
    t += step;
    read(begin, count);  // comes while these are folded
    const auto value = tree.fold(reducer);
    if (mine >= trees) continue;
    if (items > 0) {
      cuda::write(out + mine, detail::finish(reducer, init, value));
    } else {
      cuda::write(out + mine, detail::result_of_nothing(reducer, empty));
    }
  }
}

}  // namespace tilefold::detail::cuda
