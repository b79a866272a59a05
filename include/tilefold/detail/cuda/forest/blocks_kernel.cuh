// SPDX-License-Identifier: Apache-2.0
//
// Trees that are too long for a warp are cut into slices, aligned blocks of a power of two of
// items:
//
//     tree      | slice 0 | slice 1 | slice 2 | slice 3 |   up to 1024 slices
//     blocks         b         b'        b''      b'''      each folds a slice
//     partials  [    v0        v1        v2       v3    ]   in the workspace; one counter a tree
//                    `---------+----.----+--------'
//     result                       out                      the last to arrive folds them
//
//     a slice   tile after tile, by all warps together; the tiles' values wait on a warp_stack. If
//               accumulators are large, and of structs, an aligned part a warp, whose lanes fold
//               stretches or cells; the warps' values meet in shared memory.
//
//     equal_slices     | s0 s1 s2 | s3 s4 s5 | s6 s7 s8 | ...     trees of one length
//     queued_slices    | s0 s1 s2 | s3 s4 s5 s6 | s7 | ...        the queue of the launches
//                                                                 before (forest_plan.cuh)
//     planned_slices   the same of few trees, which each block finds by itself, in the only launch
//     block b          slices b, b + blocks...
//
// Queued and planned slices are two instances of the kernel: one instance for both spills registers
// around every slice, and takes 8 to 14% longer for trees of 65536 floats and more (H200).
#pragma once

#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/detail/cuda/forest/forest_plan.cuh>

namespace tilefold::detail::cuda {

/// Whether the warps of a block of `nt` threads stage their parts of a slice: of structs, where
/// that many stripes fit shared memory.
template <class Source, class Reducer>
constexpr bool stages_slices(int nt) {
  return stages_trees<Source, Reducer> ||
         (stages_trees_of_structs<Source, Reducer> && nt <= warps_nt);
}

/// Blocks that one SM shall hold at least.
template <class Forest, class Reducer>
constexpr int min_resident_slice_blocks(int nt) {
  using source_type = typename Forest::source_type;
  constexpr std::size_t acc_bytes = sizeof(typename Reducer::accumulator);
  if constexpr (stages_trees<source_type, Reducer>) {
    return staged_shape_of<source_type, Reducer>.blocks;
  }
  if (cuda::stages_slices<source_type, Reducer>(nt)) {
    return min_resident_struct_warps(acc_bytes) * warp_size / nt;
  }
  // Trees of any length have more code, which needs registers for whole accumulators.
  constexpr bool of_one_length = std::is_same_v<Forest, equal_forest<source_type>>;
  return min_resident_blocks(nt, of_one_length ? folded_bytes<Reducer> : acc_bytes);
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

  TILEFOLD_D void run(const tree_slice& slice) const {
    slot<acc> value;
    fold(slice, value);
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

  /// In the first thread, `value` becomes the value of the slice alone.
  TILEFOLD_D void fold(const tree_slice& slice, slot<acc>& value) const {
    if constexpr (folds_stretches<source_type, Reducer> || staged) {
      fold_parts(slice, value);
    } else {
      fold_tiles(slice, value);
    }
  }

  TILEFOLD_D void write_tree(std::int64_t i, const acc& value) const {
    cuda::write(out + i, detail::finish(reducer, init, value));
  }

 private:
  // Every warp folds an aligned part of the slice. In the first warp, `result` becomes its value.
  TILEFOLD_D void fold_parts(const tree_slice& slice, slot<acc>& result) const {
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

  TILEFOLD_D acc fold_part(const tree_slice& slice, std::int64_t begin, std::int64_t count) const {
    const source_type tree = forest.tree(slice.tree);
    if constexpr (staged) {
      return staged_tree<source_type, Reducer>::fold(
          tree, reducer, shared.of_warps[threadIdx.x / warp_size], begin, count, slice.count);
    } else {
      return cuda::fold_stretches_by_warp(tree, reducer, begin, count, slice.count);
    }
  }

  TILEFOLD_D void fold_tiles(const tree_slice& slice, slot<acc>& result) const {
    const std::int64_t first = slice.slice * slice.size;
    const std::int64_t left = slice.count - first;
    const std::int64_t items = left < slice.size ? left : slice.size;
    const source_type source = forest.tree(slice.tree);
    // A full tile may overread items that follow the slice in its tree.
    const std::int64_t full_items = left - full_tile::overread_items(source);
    warp_stack<Reducer> stack(reducer);
    unsigned nth_tile = 0;
    for (std::int64_t done = 0; done < items; done += Policy.tile()) {
      acc* const warp_values = __builtin_addressof(shared.warp_values[nth_tile++ % 2][0].value);
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
TILEFOLD_D void fold_slices(const Slices& slices,
                            slice_work<Policy, Forest, Reducer, Init, Out> work) {
  const std::int64_t size = slices.size(work.forest);
  for (std::int64_t s = blockIdx.x; s < size; s += gridDim.x) {
    work.run(slices.find(work.forest, s));
  }
}

// A forest of few trees, at most 1024, in one launch of blocks_kernel. Only the GPU knows their
// lengths:
//
//     trees     0  1  2  3  4  5  6 ...
//               s  L  s  s  s  L  s                s: up to plan.longest_for_warp items   L: longer
//     s         a warp folds a tree; block t % blocks has tree t, so that few trees are spread
//               over the GPU
//     L         cut into slices: tree 1 has slices 0 1 2, tree 5 has slices 3 4
//     plan      first[] = 0 0 3 3 3 3 5 ...        each tree's first slice; in the end, how many.
//                                                  Every block makes it in its own shared memory

/// The slices of the trees that are too long for a warp, in the order of the trees. All threads of
/// a block of Nt take part in making it.
template <int Nt>
class slice_plan {
  static constexpr int num_warps = Nt / warp_size;
  static constexpr int trees_per_thread = (most_one_launch_trees + Nt - 1) / Nt;
  // Rounding up may add a slice to each tree, for which there are partials, too.
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
    return count > plan.longest_for_warp ? count : 0;
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

/// All trees of a forest of few: those for warps, then the slices of the others.
template <class Acc, class Empty>
struct planned_slices {
  forest_plan plan;
  Empty empty;
  Acc* partials;
  unsigned* arrivals;

  template <class Work>
  TILEFOLD_D void fold(const Work& work) const {
    if (fold_by_warps(work)) return;
    __shared__ typename slice_plan<Work::nt>::shared_memory memory;
    cuda::fold_slices(slice_plan<Work::nt>(work.forest, plan, memory), work);
  }

 private:
  // Folds the trees that are for warps. Returns whether these are all trees.
  template <class Work>
  TILEFOLD_D bool fold_by_warps(const Work& work) const {
    const auto size = static_cast<int>(work.forest.size());
    bool any_long = false;
    for (int t = static_cast<int>(threadIdx.x); t < size; t += Work::nt) {
      any_long |= work.forest.count(t) > plan.longest_for_warp;
    }
    // Neighbours in different blocks: few trees are spread over the GPU.
    const int warp = static_cast<int>(threadIdx.x / warp_size * gridDim.x + blockIdx.x);
    const int warps = static_cast<int>(Work::nt / warp_size * gridDim.x);
    for (int t = warp; t < size; t += warps) {
      const std::int64_t count = work.forest.count(t);
      if (count > plan.longest_for_warp) continue;
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

/// The slices of all trees of a forest whose trees have one length.
template <class Acc>
struct equal_slices {
  std::int64_t slice_items;
  Acc* partials;
  unsigned* arrivals;

  template <class Work>
  TILEFOLD_D void fold(const Work& work) const {
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
  TILEFOLD_D void fold(const Work& work) const {
    if (is_empty()) return;
    cuda::fold_slices(*this, work);
    leave();
  }

 private:
  // Whether no tree was queued. If so, this resets the counters; later blocks get the same answer.
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
__global__ void __launch_bounds__(Nt, (min_resident_slice_blocks<Forest, Reducer>(Nt)))
    blocks_kernel(Slices slices, Forest forest, Reducer reducer, Init init, Out out) {
  using work_type = slice_work<tile_policy{Nt, Vt}, Forest, Reducer, Init, Out>;
  __shared__ typename work_type::shared_memory shared;
  cuda::wait_for_previous_launch();
  slices.fold(work_type{forest, reducer, init, out, slices.partials, slices.arrivals, shared});
}

}  // namespace tilefold::detail::cuda
