// SPDX-License-Identifier: Apache-2.0
//
// What the launches of a forest share: which trees a warp takes, from which length on a tree is for
// blocks, and the queue of these long trees that the first launch leaves to the others.
#pragma once

#include <tilefold/detail/cuda/base/tuning_forests.cuh>

namespace tilefold::detail::cuda {

/// Which trees are long, and how they are cut.
struct forest_plan {
  std::int64_t longest_for_warp;  // items; longer trees are for blocks
  std::int64_t slice_items;       // of a slice at least; a power of two
};

/// Batches: the neighbouring trees that a warp takes at a time. Each of `warps` warps has several,
/// so that all end at about the same time; but a batch has a tree a lane, if there are enough.
struct tree_batches {
  std::int64_t num_trees;
  std::int64_t length;

  __device__ tree_batches(std::int64_t trees, std::int64_t warps)
      : num_trees(trees),
        length(detail::bounded(ceil_div(trees, warps * batches_of_warp),
                               detail::bounded(trees / warps, std::int64_t{1}, std::int64_t{32}),
                               most_batch_trees)) {}
  __device__ std::int64_t num() const { return ceil_div(num_trees, length); }
  __device__ std::int64_t first(std::int64_t b) const { return b * length; }
  __device__ int size(std::int64_t b) const {
    return static_cast<int>(detail::smaller(length, num_trees - first(b)));
  }
};

// The most slices of one tree, so that one block can fold their values.
inline constexpr int max_slices = 1024;

TILEFOLD_HD inline std::int64_t slice_size(std::int64_t count, std::int64_t least) {
  std::int64_t size = least;
  while (tree::num_blocks(count, size) > max_slices) size *= 2;
  return size;
}

/// A slice of a long tree: items [slice * size, (slice + 1) * size) of it, as far as they exist.
struct tree_slice {
  std::int64_t tree;
  std::int64_t count;  // of the whole tree
  std::int64_t size;
  int slice;
  int slices;
  unsigned partial;  // of the tree's first slice
};

/// A tree that is too long for a warp.
struct long_tree {
  std::int64_t tree;
  std::int64_t first_slice;  // among the slices of all long trees
  std::int64_t slice_items;
  unsigned first_partial;  // for the values of its slices, if there are several
};

/// Counters of the turns in which warps take batches (warps_kernel.cuh), each on a line of its own.
struct turn_counters {
  unsigned taken[num_turn_counters * turn_counter_words];

  __device__ void reset() {
    for (unsigned c = 0; c < num_turn_counters; ++c) taken[c * turn_counter_words] = 0;
  }
};

/// What the first launch leaves to the others. Counters are zero before and after.
template <class Acc>
struct long_queue {
  struct counters {
    unsigned long long tail;  // queued trees << slice_bits | their slices: one atomic counts both
    unsigned partials;
    unsigned blocks_done;
    unsigned long long num_for_warps;  // trees
    turn_counters turns;

    __device__ void reset() {
      tail = 0;
      partials = 0;
      blocks_done = 0;
      num_for_warps = 0;
      turns.reset();
    }
  };
  static constexpr int slice_bits = 40;
  static constexpr unsigned long long slice_mask = (1ull << slice_bits) - 1;

  counters* state;
  unsigned* arrivals;  // a counter per partial; a tree uses the counter of its first partial
  Acc* partials;
  long_tree* trees;
  unsigned max_partials;
  unsigned max_trees;

  __device__ unsigned num_trees() const {
    return detail::smaller(static_cast<unsigned>(state->tail >> slice_bits), max_trees);
  }

  /// The number of slices of all queued trees, of which there is at least one.
  template <class Forest>
  __device__ std::int64_t size(const Forest& forest) const {
    const long_tree& last = trees[num_trees() - 1];
    return last.first_slice + tree::num_blocks(forest.count(last.tree), last.slice_items);
  }
  template <class Forest>
  __device__ tree_slice find(const Forest& forest, std::int64_t s) const {
    unsigned low = 0;
    for (unsigned high = num_trees(); high - low > 1;) {
      const unsigned middle = low + (high - low) / 2;
      (trees[middle].first_slice <= s ? low : high) = middle;
    }
    const long_tree& entry = trees[low];
    const std::int64_t count = forest.count(entry.tree);
    return {entry.tree,
            count,
            entry.slice_items,
            static_cast<int>(s - entry.first_slice),
            static_cast<int>(tree::num_blocks(count, entry.slice_items)),
            entry.first_partial};
  }
};

/// Puts a tree into the queue; false if the queue is full. One thread.
template <class Acc>
__device__ bool enqueue(const long_queue<Acc>& queue, const forest_plan& plan, std::int64_t tree,
                        std::int64_t count) {
  // The counters are read before they are raised. So they exceed their limits at most by what the
  // warps in flight add, and cannot wrap.
  const volatile auto* state = queue.state;
  if (state->tail >> long_queue<Acc>::slice_bits >= queue.max_trees) return false;
  std::int64_t slice_items = cuda::slice_size(count, plan.slice_items);
  auto slices = static_cast<unsigned>(tree::num_blocks(count, slice_items));
  unsigned partial = 0;
  if (slices > 1) {
    const bool room = state->partials < queue.max_partials;
    if (room) partial = atomicAdd(&queue.state->partials, slices);
    if (!room || partial + slices > queue.max_partials) {
      slice_items = cuda::slice_size(count, count);
      slices = 1;
    }
  }
  const auto place = atomicAdd(&queue.state->tail, (1ull << long_queue<Acc>::slice_bits) | slices);
  const auto index = static_cast<unsigned>(place >> long_queue<Acc>::slice_bits);
  if (index >= queue.max_trees) return false;
  queue.trees[index] = {tree, static_cast<std::int64_t>(place & long_queue<Acc>::slice_mask),
                        slice_items, partial};
  return true;
}

}  // namespace tilefold::detail::cuda
