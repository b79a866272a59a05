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
// The block that completes a tree's slices folds their values and writes the result. Queued and
// planned slices are two instances of the kernel: one for both spills registers around every slice,
// and takes 8 to 14% longer for trees of 65536 floats and more (an H200).
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
  __device__ __forceinline__ void fold(const Work& work) const {
    cuda::fold_slices(*this, work);
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
};

/// The slices of the trees that the launches before have queued.
template <class Acc>
struct queued_slices : long_queue<Acc> {
  template <class Work>
  __device__ __forceinline__ void fold(const Work& work) const {
    if (is_empty()) return;
    cuda::fold_slices(*this, work);
    leave();
  }

 private:
  // Whether no tree was queued. If so, this resets the counters for the next call; blocks that ask
  // later still get the same answer.
  __device__ bool is_empty() const {
    if (this->num_trees() > 0) return false;
    if (blockIdx.x == 0 && threadIdx.x == 0) this->state->reset();
    return true;
  }

  // Called by every thread when its block is done; the last block resets the counters.
  __device__ void leave() const {
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
  slices.fold(work_type{forest, reducer, init, out, slices.partials, slices.arrivals, shared});
}

}  // namespace tilefold::detail::cuda
