// SPDX-License-Identifier: Apache-2.0
//
// A forest of which every tree is short, as was promised (segment_bound.hpp): nobody looks, and
// nothing is left to others. A thread folds the tree of its number by itself (short_trees.cuh):
//
//     trees     0     1    2   3      4   ...       of up to Items items, here 5
//     items     012   34       5      6 to 10
//     thread    0     1    2   3      4   ...       block b has trees 256 b to 256 b + 255
//     load      each thread at once, up to Items places
//     write     each thread its result; thread 2 that of no items
//
// Blocks come and go: the loads of those that come hide the latency of those that are there.
// Device code.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/tuning_forests.cuh>
#include <tilefold/detail/cuda/fold/short_trees.cuh>
#include <tilefold/detail/cuda/sched/tile_kernel.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/forest.hpp>

namespace tilefold::detail::cuda {

template <class Build, int Items, class Forest, class Reducer, class Init, class Empty, class Out>
__global__ void __launch_bounds__(bounded_nt,
                                  blocks_that_fit(min_resident_bounded_blocks, bounded_nt))
    bounded_trees_kernel(Forest forest, Reducer reducer, Init init, Empty empty, Out out) {
  cuda::wait_for_previous_launch();
  const std::int64_t t = std::int64_t{blockIdx.x} * bounded_nt + threadIdx.x;
  const bool exists = t < forest.size();
  const std::int64_t begin = exists ? forest.first(t) : 0;
  const auto count =
      static_cast<int>(exists ? detail::larger(forest.count(t), std::int64_t{0}) : std::int64_t{0});
  const element_range all = forest.all_items();
  const bool inner = begin - all.begin >= load_bytes && all.end - begin - count >= load_bytes;
  tree_of_lane<typename Forest::source_type, Reducer, Items> tree;
  tree.load(detail::starting_at(forest.source, begin), count,
            __all_sync(full_warp, count == 0 || inner));
  const auto value = tree.fold(reducer);
  if (!exists) return;
  if (count > 0) {
    cuda::write(out + t, detail::finish(reducer, init, value));
  } else {
    cuda::write(out + t, detail::result_of_nothing(reducer, empty));
  }
}

}  // namespace tilefold::detail::cuda
