// SPDX-License-Identifier: Apache-2.0
//
// A forest of few trees, at most 1024, in one launch of blocks_kernel. Only the GPU knows their
// lengths:
//
//     trees     0  1  2  3  4  5  6 ...
//               s  L  s  s  s  L  s                s: up to lengths.warp_items items   L: longer
//     s         a warp folds a tree; block t % blocks has tree t, so that few trees are spread
//               over the GPU
//     L         cut into slices: tree 1 has slices 0 1 2, tree 5 has slices 3 4
//     plan      first[] = 0 0 3 3 3 3 5 ...        each tree's first slice; in the end, how many.
//                                                  Every block makes it in its own shared memory
//     block b   slices b, b + blocks...             (slice_fold.cuh)
#pragma once

#include <cstdint>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning_forests.cuh>
#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/detail/cuda/forest/forest_plan.cuh>
#include <tilefold/detail/cuda/forest/slice_fold.cuh>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// The slices of the trees that are too long for a warp, in the order of the trees. All threads of
/// a block of Nt take part in making it.
template <int Nt>
class slice_plan {
  static constexpr int num_warps = Nt / warp_size;
  static constexpr int trees_per_thread = (most_one_launch_trees + Nt - 1) / Nt;
  // Rounding may add a slice a tree; there are partials for those, too.
  static constexpr std::int64_t most_slices = max_queued_partials - most_one_launch_trees;

 public:
  struct shared_memory {
    std::int64_t items[num_warps];
    int slices[num_warps];
    int first[most_one_launch_trees + 1];  // each tree's first slice; how many there are
  };

  template <class Forest>
  __device__ slice_plan(const Forest& forest, const forest_plan& plan, shared_memory& memory)
      : first_(memory.first), slice_items_(plan.slice_items) {
    const auto size = static_cast<int>(forest.size());
    const int begin = static_cast<int>(threadIdx.x) * trees_per_thread;
    const int end = detail::smaller(begin + trees_per_thread, size);
    std::int64_t items = 0;
    for (int t = begin; t < end; ++t) items += long_count(forest, t, plan);
    items = block_sum(items, memory.items);
    const auto wanted = detail::smaller(slices_per_one_launch_block * gridDim.x, most_slices);
    while (tree::num_blocks(items, slice_items_) > wanted) slice_items_ *= 2;
    int slices = 0;
    for (int t = begin; t < end; ++t) slices += num_slices(long_count(forest, t, plan));
    int slice = sum_before(slices, memory.slices);
    for (int t = begin; t < end; ++t) {
      memory.first[t] = slice;
      slice += num_slices(long_count(forest, t, plan));
      if (t + 1 == size) memory.first[size] = slice;
    }
    __syncthreads();
  }

  template <class Forest>
  __device__ std::int64_t size(const Forest& forest) const {
    return first_[forest.size()];
  }

  template <class Forest>
  __device__ tree_slice find(const Forest& forest, std::int64_t s) const {
    int low = 0;
    for (auto high = static_cast<int>(forest.size()); high - low > 1;) {
      const int middle = low + (high - low) / 2;
      (first_[middle] <= s ? low : high) = middle;
    }
    const std::int64_t count = forest.count(low);
    return {low,
            count,
            cuda::slice_size(count, slice_items_),
            static_cast<int>(s) - first_[low],
            num_slices(count),
            static_cast<unsigned>(first_[low])};
  }

 private:
  template <class Forest>
  __device__ static std::int64_t long_count(const Forest& forest, int t, const forest_plan& plan) {
    const std::int64_t count = forest.count(t);
    return count > plan.warp_items ? count : 0;
  }
  __device__ int num_slices(std::int64_t count) const {
    return static_cast<int>(tree::num_blocks(count, cuda::slice_size(count, slice_items_)));
  }

  __device__ static std::int64_t block_sum(std::int64_t x, std::int64_t* of_warps) {
#pragma unroll
    for (int mask = 1; mask < warp_size; mask *= 2) x += __shfl_xor_sync(full_warp, x, mask);
    if (threadIdx.x % warp_size == 0) of_warps[threadIdx.x / warp_size] = x;
    __syncthreads();
    x = 0;
    for (int w = 0; w < num_warps; ++w) x += of_warps[w];
    return x;
  }
  // The sum of x over the threads before this one.
  __device__ static int sum_before(int x, int* of_warps) {
    const unsigned in_warp = cuda::inclusive_sum(static_cast<unsigned>(x));
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    if (threadIdx.x % warp_size == warp_size - 1) of_warps[warp] = static_cast<int>(in_warp);
    __syncthreads();
    int sum = static_cast<int>(in_warp) - x;
    for (int w = 0; w < warp; ++w) sum += of_warps[w];
    return sum;
  }

  const int* first_;
  std::int64_t slice_items_;
};

/// All trees of a forest of few.
template <class Acc, class Empty>
struct planned_slices {
  forest_plan plan;
  Empty empty;
  Acc* partials;
  unsigned* arrivals;

  template <class Work>
  __device__ __forceinline__ void fold(const Work& work) const {
    if (fold_by_warps(work)) return;
    __shared__ typename slice_plan<Work::nt>::shared_memory memory;
    cuda::fold_slices(slice_plan<Work::nt>(work.forest, plan, memory), work);
  }

 private:
  // Folds the trees that are for warps. Returns whether those are all.
  template <class Work>
  __device__ __forceinline__ bool fold_by_warps(const Work& work) const {
    const auto size = static_cast<int>(work.forest.size());
    bool any_long = false;
    for (int t = static_cast<int>(threadIdx.x); t < size; t += Work::nt) {
      any_long |= work.forest.count(t) > plan.warp_items;
    }
    // Neighbours in different blocks: few trees are spread over the GPU.
    const int warp = static_cast<int>(threadIdx.x / warp_size * gridDim.x + blockIdx.x);
    const int warps = static_cast<int>(Work::nt / warp_size * gridDim.x);
    for (int t = warp; t < size; t += warps) {
      const std::int64_t count = work.forest.count(t);
      if (count > plan.warp_items) continue;
      if (count > 0) {
        const auto value =
            cuda::fold_by_warp(work.forest.tree(t), work.reducer, count, work.shared);
        if (threadIdx.x % warp_size == 0) work.write_tree(t, value);
      } else if (threadIdx.x % warp_size == 0) {
        cuda::write(work.out + t, detail::result_of_nothing(work.reducer, empty));
      }
    }
    return !__syncthreads_or(any_long);
  }
};

}  // namespace tilefold::detail::cuda
