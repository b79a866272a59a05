// SPDX-License-Identifier: Apache-2.0
//
// Folds in the order of sequential_blocks(), of trees that are longer than three blocks of items: a
// thread block of blocks_kernel folds a block of items as a slice, and the values of a tree are
// joined from left to right.
//
//     trees of one length: split_trees
//
//         workers   | block 0 | block 1 | block 2 | ...     dealt in turn, so that the first are
//         partials  [   v0        v1        v2      ]       there first, 256 with one counter
//         joiners   a warp a tree waits for a counter, fetches the values and joins them, while
//                   the workers go on
//
//     lengths that only the GPU knows: long_trees, a thread block a tree
//
//         tree      | block 0 | block 1 | block 2 | block 3 | ...     one after the other, each
//         total         v0   v0 v1   (v0 v1) v2    ...                joined by the first thread
//
// Joiners wait for workers; workers wait for nothing. The joiners are the last blocks of the grid.
// Assumption: the GPU starts the blocks of a grid in the order of their numbers. CUDA does not
// promise that order. With it, every worker has started when a joiner starts, so each wait ends.
#pragma once

#include <tilefold/detail/core/sequential.hpp>
#include <tilefold/detail/cuda/forest/blocks_kernel.cuh>

namespace tilefold::detail::cuda {

/// Joins `next`, which stands behind `total`, to it.
template <class Reducer, class Acc>
TILEFOLD_D void join_next(const Reducer& reducer, slot<Acc>& total, const Acc& next) {
  // Made apart from its operands, which a combine may read after it has begun to write.
  const Acc both = reducer.combine(total.value, next);
  total.put(both);
}

/// The trees of more than `most_short` items, of any lengths; the others are left alone. Block b
/// looks at trees b, b + blocks..., as many at a time as it has threads.
template <std::int64_t Block, class Acc>
struct long_trees {
  std::int64_t most_short;
  Acc* partials = nullptr;  // none, nor counters
  unsigned* arrivals = nullptr;

  template <class Work>
  TILEFOLD_D void fold(const Work& work) const {
    __shared__ unsigned found[Work::nt / warp_size];
    const std::int64_t trees = work.forest.size();
    const auto blocks = static_cast<std::int64_t>(gridDim.x);
    for (auto first = static_cast<std::int64_t>(blockIdx.x); first < trees;
         first += blocks * Work::nt) {
      const std::int64_t mine = first + static_cast<std::int64_t>(threadIdx.x) * blocks;
      const bool is_long = mine < trees && work.forest.count(mine) > most_short;
      const unsigned of_warp = __ballot_sync(full_warp, is_long);
      if (threadIdx.x % warp_size == 0) found[threadIdx.x / warp_size] = of_warp;
      if (!__syncthreads_or(is_long)) continue;
#pragma unroll 1
      for (int w = 0; w < Work::nt / warp_size; ++w) {
#pragma unroll 1
        for (unsigned left = found[w]; left != 0; left &= left - 1) {
          const int nth = w * warp_size + __ffs(static_cast<int>(left)) - 1;
          fold_tree(work, first + nth * blocks);
        }
      }
      __syncthreads();  // all have read what was found
    }
  }

 private:
  template <class Work>
  TILEFOLD_D static void fold_tree(const Work& work, std::int64_t t) {
    const std::int64_t count = work.forest.count(t);
    const auto slices = static_cast<int>(tree::num_blocks(count, Block));
    slot<Acc> total;
#pragma unroll 1
    for (int s = 0; s < slices; ++s) {
      slot<Acc> value;
      work.fold(tree_slice{t, count, Block, s, slices, 0}, value);
      if (threadIdx.x == 0 && s == 0) total.put(value.value);
      if (threadIdx.x == 0 && s > 0) cuda::join_next(work.reducer, total, value.value);
    }
    if (threadIdx.x == 0) work.write_tree(t, total.value);
  }
};

/// Values that have one counter.
inline constexpr int sequence_chunk = 256;

/// Counts a partial that this thread has written.
TILEFOLD_D void count_partial(unsigned* arrivals) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;"
               :
               : "l"(__cvta_generic_to_global(arrivals))
               : "memory");
}

/// Waits until `size` partials are there; then they can be read.
TILEFOLD_D void wait_for_partials(const unsigned* arrivals, unsigned size) {
  for (;;) {
    unsigned there;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(there)
                 : "l"(__cvta_generic_to_global(arrivals))
                 : "memory");
    if (there == size) return;
    __nanosleep(100);
  }
}

/// Joins the values of trees, each by a warp:
///
///     lanes     fetch values 128 .. 255 into registers      while these are on their way,
///     shared    values 0 .. 127                             every lane joins them, one by one
template <int Nt, class Plan, class Reducer>
class tree_joiner {
  using acc = typename Reducer::accumulator;
  static constexpr int num_warps = Nt / warp_size;
  // Values that a warp has in shared memory, of which the block has 12 KiB.
  static constexpr int step = detail::bounded(
      floor_power_of_two(12288 / (num_warps * static_cast<int>(sizeof(acc)))), 1, 128);
  static constexpr int of_lane = (step + warp_size - 1) / warp_size;

  struct memory_of_block {
    slot<acc> of_warp[num_warps][step];
  };

 public:
  /// Joins every tree of this warp.
  template <class Work>
  TILEFOLD_D static void join(const Plan& plan, const Work& work) {
    // A joiner folds no slices. Where these are staged, there is no room but in their memory.
    constexpr bool fits = sizeof(memory_of_block) <= sizeof(work.shared);
    __shared__ std::conditional_t<fits, char, memory_of_block> own;
    auto& memory =
        *reinterpret_cast<memory_of_block*>(fits ? static_cast<void*>(&work.shared) : &own);
    const auto warps = static_cast<std::int64_t>(gridDim.x - plan.workers) * num_warps;
    const auto joiner = static_cast<std::int64_t>(blockIdx.x - plan.workers);
    for (std::int64_t t = joiner * num_warps + warp_of_thread(); t < plan.trees; t += warps) {
      tree_joiner tree{plan, work.reducer, t, memory.of_warp[warp_of_thread()], lane_of_thread()};
      slot<acc> total;
      tree.fetch(0);
      tree.join_all(total);
      if (tree.lane_ == 0) work.write_tree(t, total.value);
    }
  }

 private:
  TILEFOLD_D tree_joiner(const Plan& plan, const Reducer& reducer, std::int64_t t,
                         slot<acc>* values, int lane)
      : plan_(plan), reducer_(reducer), tree_(t), values_(values), lane_(lane) {}

  TILEFOLD_D int size_from(std::int64_t first, int most) const {
    return static_cast<int>(detail::smaller(plan_.slices - first, std::int64_t{most}));
  }

  // Begins to load the values from `first` on, once they are there.
  TILEFOLD_D void fetch(std::int64_t first) {
    if (first % sequence_chunk == 0) {
      unsigned* const counter = plan_.counter(tree_, first);
      cuda::wait_for_partials(counter, static_cast<unsigned>(size_from(first, sequence_chunk)));
      __syncwarp();
      if (lane_ == 0) *counter = 0;  // all lanes have seen it; zero for the next launch
    }
    const acc* const from = plan_.partials + tree_ * plan_.slices + first;
    const int count = size_from(first, step);
#pragma unroll
    for (int i = 0; i < of_lane; ++i) {
      const int k = i * warp_size + lane_;
      if (k < count) fetched_.put(i, from[k]);
    }
  }

  // Joins what has been fetched, and all that follows.
  TILEFOLD_D void join_all(slot<acc>& total) {
#pragma unroll 1
    for (std::int64_t first = 0; first < plan_.slices; first += step) {
      const int count = size_from(first, step);
#pragma unroll
      for (int i = 0; i < of_lane; ++i) {
        const int k = i * warp_size + lane_;
        if (k < count) values_[k].put(fetched_[i]);
      }
      __syncwarp();
      if (first + step < plan_.slices) fetch(first + step);
      if (first == 0) total.put(values_[0].value);
      // By every lane, which costs no more than by one.
#pragma unroll 8
      for (int k = first == 0 ? 1 : 0; k < count; ++k) {
        cuda::join_next(reducer_, total, values_[k].value);
      }
      __syncwarp();
    }
  }

  const Plan& plan_;
  const Reducer& reducer_;
  const std::int64_t tree_;
  slot<acc>* const values_;
  const int lane_;
  registers<acc, of_lane> fetched_;
};

/// Trees of one length, and where the values of their blocks go. Counters are zero before and
/// after.
template <std::int64_t Block, class Acc>
struct split_trees {
  std::int64_t trees;
  std::int64_t length;
  std::int64_t slices;  // of a tree
  unsigned workers;     // thread blocks; the others are joiners
  Acc* partials;
  unsigned* arrivals;

  template <class Work>
  TILEFOLD_D void fold(const Work& work) const {
    using joiner = tree_joiner<Work::nt, split_trees, std::remove_cvref_t<decltype(work.reducer)>>;
    if (blockIdx.x >= workers) return joiner::join(*this, work);
#pragma unroll 1
    for (auto i = static_cast<std::int64_t>(blockIdx.x); i < trees * slices; i += workers) {
      const std::int64_t t = i / slices;
      const std::int64_t s = i - t * slices;
      slot<Acc> value;
      work.fold(tree_slice{t, length, Block, static_cast<int>(s), static_cast<int>(slices), 0},
                value);
      if (threadIdx.x == 0) {
        ::new (static_cast<void*>(partials + i)) Acc(value.value);
        cuda::count_partial(counter(t, s));
      }
    }
  }

  TILEFOLD_D unsigned* counter(std::int64_t t, std::int64_t slice) const {
    const std::int64_t chunks = tree::num_blocks(slices, std::int64_t{sequence_chunk});
    return arrivals + (t * chunks + slice / sequence_chunk);
  }
};

}  // namespace tilefold::detail::cuda
