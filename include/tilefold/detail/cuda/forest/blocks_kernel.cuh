// SPDX-License-Identifier: Apache-2.0
//
// Trees that are too long for a warp. They are cut into slices, which blocks fold (slice_fold.cuh):
//
//     equal_slices     | s0 s1 s2 | s3 s4 s5 | s6 s7 s8 | ...     trees of one length
//     queued_slices    | s0 s1 s2 | s3 s4 s5 s6 | s7 | ...        the queue of the launches
//                                                                 before (forest_plan.cuh)
//     planned_slices   the same of few trees, which each block finds by itself, in the only launch
//                      (planned_slices.cuh)
//     block b          slices b, b + blocks...
//
// The block that completes a tree's slices folds their values and writes the result.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/forest/forest_plan.cuh>
#include <tilefold/detail/cuda/forest/slice_fold.cuh>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// The slices of all trees of a forest whose trees have one length.
template <class Acc>
struct equal_slices {
  std::int64_t slice_items;
  Acc* partials;
  unsigned* arrivals;

  template <class Work>
  __device__ bool done_before_slices(const Work&) const {
    return false;
  }
  template <class Work>
  __device__ const equal_slices& slices_of(const Work&) const {
    return *this;
  }

  template <class Forest>
  __device__ std::int64_t size(const Forest& forest) const {
    return forest.size() * tree::num_blocks(forest.length, slice_items);
  }
  template <class Forest>
  __device__ tree_slice find(const Forest& forest, std::int64_t s) const {
    const auto slices = tree::num_blocks(forest.length, slice_items);
    const std::int64_t t = s / slices;
    return {t,
            forest.length,
            slice_items,
            static_cast<int>(s - t * slices),
            static_cast<int>(slices),
            static_cast<unsigned>(t * slices)};
  }

  __device__ void finish() const {}
};

/// The slices of the trees that the launches before have queued.
template <class Acc>
struct queued_slices : long_queue<Acc> {
  /// Whether no tree was queued. If so, this resets the counters for the next call; blocks that ask
  /// later still get the same answer.
  template <class Work>
  __device__ bool done_before_slices(const Work&) const {
    if (this->num_trees() > 0) return false;
    if (blockIdx.x == 0 && threadIdx.x == 0) this->state->reset();
    return true;
  }
  template <class Work>
  __device__ const queued_slices& slices_of(const Work&) const {
    return *this;
  }

  template <class Forest>
  __device__ std::int64_t size(const Forest& forest) const {
    const long_tree& last = this->trees[this->num_trees() - 1];
    return last.first_slice + tree::num_blocks(forest.count(last.tree), last.slice_items);
  }

  template <class Forest>
  __device__ tree_slice find(const Forest& forest, std::int64_t s) const {
    unsigned low = 0;
    for (unsigned high = this->num_trees(); high - low > 1;) {
      const unsigned middle = low + (high - low) / 2;
      (this->trees[middle].first_slice <= s ? low : high) = middle;
    }
    const long_tree& entry = this->trees[low];
    const std::int64_t count = forest.count(entry.tree);
    return {entry.tree,
            count,
            entry.slice_items,
            static_cast<int>(s - entry.first_slice),
            static_cast<int>(tree::num_blocks(count, entry.slice_items)),
            entry.first_partial};
  }

  /// Called by every thread when its block is done, if there are slices; the last block resets the
  /// counters for the next call.
  __device__ void finish() const {
    __syncthreads();
    if (threadIdx.x != 0) return;
    __threadfence();
    if (atomicAdd(&this->state->blocks_done, 1u) + 1 == gridDim.x) this->state->reset();
  }
};

template <class Build, int Nt, int Vt, class Slices, class Forest, class Reducer, class Init,
          class Out>
__global__ void __launch_bounds__(
    Nt, (min_resident_slice_blocks<typename Forest::source_type, Reducer>(Nt)))
    blocks_kernel(Slices slices, Forest forest, Reducer reducer, Init init, Out out) {
  using work_type = slice_work<tile_policy{Nt, Vt}, Forest, Reducer, Init, Out>;
  __shared__ typename work_type::shared_memory shared;
  cuda::wait_for_previous_launch();
  const work_type work{forest, reducer, init, out, slices.partials, slices.arrivals, shared};
  if (slices.done_before_slices(work)) return;
  cuda::fold_slices(slices.slices_of(work), work);
  slices.finish();
}

}  // namespace tilefold::detail::cuda
