// SPDX-License-Identifier: Apache-2.0
//
// Folds in the order of sequential_blocks(), of trees that are longer than three blocks of items: a
// thread block folds a block of items as a slice (forest/blocks_kernel.cuh), and the values of a
// tree are joined from left to right.
//
//     trees of one length: split_trees_kernel
//
//         workers   | block 0 | block 1 | block 2 | ...     dealt in turn, so that the first are
//         partials  [   v0        v1        v2      ]       there first, 256 with one counter
//         joiners   a warp a tree waits for a counter, fetches the values and joins them, while
//                   the workers go on
//
//     lengths that only the GPU knows: long_trees_kernel, a thread block a tree
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

/// Folds the trees of more than `most_short` items, of any lengths, and leaves the others alone.
/// Block b looks at trees b, b + blocks..., Nt of them at a time.
template <class Build, int Nt, int Vt, std::int64_t Block, class Forest, class Reducer, class Init,
          class Out>
__global__ void __launch_bounds__(
    Nt, (min_resident_slice_blocks<typename Forest::source_type, Reducer>(Nt)))
    long_trees_kernel(Forest forest, std::int64_t most_short, Reducer reducer, Init init, Out out) {
  using work_type = slice_work<tile_policy{Nt, Vt}, Forest, Reducer, Init, Out>;
  using acc = typename Reducer::accumulator;
  __shared__ typename work_type::shared_memory shared;
  __shared__ unsigned found[Nt / warp_size];
  cuda::wait_for_previous_launch();
  work_type work{forest, reducer, init, out, nullptr, nullptr, shared};
  const std::int64_t trees = forest.size();
  const auto blocks = static_cast<std::int64_t>(gridDim.x);
  for (auto first = static_cast<std::int64_t>(blockIdx.x); first < trees; first += blocks * Nt) {
    const std::int64_t mine = first + static_cast<std::int64_t>(threadIdx.x) * blocks;
    const bool is_long = mine < trees && forest.count(mine) > most_short;
    const unsigned of_warp = __ballot_sync(full_warp, is_long);
    if (threadIdx.x % warp_size == 0) found[threadIdx.x / warp_size] = of_warp;
    if (!__syncthreads_or(is_long)) continue;
#pragma unroll 1
    for (int w = 0; w < Nt / warp_size; ++w) {
#pragma unroll 1
      for (unsigned left = found[w]; left != 0; left &= left - 1) {
        const std::int64_t t = first + (w * warp_size + __ffs(static_cast<int>(left)) - 1) * blocks;
        const std::int64_t count = forest.count(t);
        const auto slices = static_cast<int>(tree::num_blocks(count, Block));
        slot<acc> total;
#pragma unroll 1
        for (int s = 0; s < slices; ++s) {
          slot<acc> value;
          work.fold(tree_slice{t, count, Block, s, slices, 0}, value);
          if (threadIdx.x == 0 && s == 0) total.put(value.value);
          if (threadIdx.x == 0 && s > 0) cuda::join_next(reducer, total, value.value);
        }
        if (threadIdx.x == 0) work.write_tree(t, total.value);
      }
    }
    __syncthreads();  // all have read what was found
  }
}

/// Values that have one counter.
inline constexpr int sequence_chunk = 256;

/// Trees of one length, and where the values of their blocks go. Counters are zero before and
/// after.
template <class Acc>
struct split_trees {
  std::int64_t trees;
  std::int64_t length;
  std::int64_t slices;  // of a tree
  unsigned workers;     // thread blocks; the others are joiners
  Acc* partials;
  unsigned* arrivals;

  TILEFOLD_D unsigned* counter(std::int64_t t, std::int64_t slice) const {
    const std::int64_t chunks = tree::num_blocks(slices, std::int64_t{sequence_chunk});
    return arrivals + (t * chunks + slice / sequence_chunk);
  }
};

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
template <int Nt, class Reducer>
class tree_joiner {
  using acc = typename Reducer::accumulator;
  static constexpr int num_warps = Nt / warp_size;
  // Values that a warp has in shared memory, of which the block has 12 KiB.
  static constexpr int step = detail::bounded(
      floor_power_of_two(12288 / (num_warps * static_cast<int>(sizeof(acc)))), 1, 128);
  static constexpr int of_lane = (step + warp_size - 1) / warp_size;

 public:
  struct shared_memory {
    slot<acc> of_warp[num_warps][step];
  };

  /// Calls write(tree, value) in one thread for every tree of this warp.
  template <class Write>
  TILEFOLD_D static void join(const split_trees<acc>& plan, const Reducer& reducer,
                              shared_memory& shared, const Write& write) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const auto warps = static_cast<std::int64_t>(gridDim.x - plan.workers) * num_warps;
    const auto joiner = static_cast<std::int64_t>(blockIdx.x - plan.workers);
    for (std::int64_t t = joiner * num_warps + warp; t < plan.trees; t += warps) {
      tree_joiner tree{plan, reducer, t, shared.of_warp[warp],
                       static_cast<int>(threadIdx.x) % warp_size};
      slot<acc> total;
      tree.fetch(0);
      tree.join_all(total);
      if (tree.lane_ == 0) write(t, total.value);
    }
  }

 private:
  TILEFOLD_D tree_joiner(const split_trees<acc>& plan, const Reducer& reducer, std::int64_t t,
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

  const split_trees<acc>& plan_;
  const Reducer& reducer_;
  const std::int64_t tree_;
  slot<acc>* const values_;
  const int lane_;
  registers<acc, of_lane> fetched_;
};

template <class Build, int Nt, int Vt, std::int64_t Block, class Forest, class Reducer, class Init,
          class Out>
__global__ void __launch_bounds__(
    Nt, (min_resident_slice_blocks<typename Forest::source_type, Reducer>(Nt)))
    split_trees_kernel(Forest forest, split_trees<typename Reducer::accumulator> plan,
                       Reducer reducer, Init init, Out out) {
  using work_type = slice_work<tile_policy{Nt, Vt}, Forest, Reducer, Init, Out>;
  using joiner_type = tree_joiner<Nt, Reducer>;
  using acc = typename Reducer::accumulator;
  using of_work = typename work_type::shared_memory;
  using of_joiner = typename joiner_type::shared_memory;
  // A thread block needs one of the two; both together may be more than there is.
  alignas(of_work) alignas(of_joiner)
      __shared__ unsigned char memory[detail::larger(sizeof(of_work), sizeof(of_joiner))];
  cuda::wait_for_previous_launch();
  work_type work{forest, reducer, init, out, nullptr, nullptr, *reinterpret_cast<of_work*>(memory)};
  if (blockIdx.x >= plan.workers) {
    joiner_type::join(plan, reducer, *reinterpret_cast<of_joiner*>(memory),
                      [&](std::int64_t t, const acc& value) { work.write_tree(t, value); });
    return;
  }
#pragma unroll 1
  for (auto i = static_cast<std::int64_t>(blockIdx.x); i < plan.trees * plan.slices;
       i += plan.workers) {
    const std::int64_t t = i / plan.slices;
    const std::int64_t s = i - t * plan.slices;
    slot<acc> value;
    work.fold(
        tree_slice{t, plan.length, Block, static_cast<int>(s), static_cast<int>(plan.slices), 0},
        value);
    if (threadIdx.x == 0) {
      ::new (static_cast<void*>(plan.partials + i)) acc(value.value);
      cuda::count_partial(plan.counter(t, s));
    }
  }
}

}  // namespace tilefold::detail::cuda
