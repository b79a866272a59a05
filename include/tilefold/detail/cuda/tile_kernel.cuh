// SPDX-License-Identifier: Apache-2.0
//
// One launch from items to the scalar. As many blocks as the GPU holds share the tiles evenly.
//
//     tiles       0   1   2   3 | 4   5   6 | 7   8   9     10 tiles of nt * vt items, 3 blocks
//                    block 0       block 1     block 2      each folds its tiles one by one
//     partials    0   1   2   3   4   5   6   7   8   9     one value a tile, in the workspace
//                 `-----.-----'   `-----.-----'   `-.-'     groups of 4 here, of 4 * nt in truth
//     partials          0               1           2       the last block to arrive folds a group
//                       `---------------+-----------'
//     result                            0                   the last block of all writes it
//
// Blocks count their arrivals at a group: here group 1 gets three from block 1, one from block 2.
// Groups are aligned powers of two, so this is the neighbour tree. Nothing waits: a block that
// completes no group leaves. A short range has a kernel of its own, at the end of this file.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>

#include <tilefold/detail/closing.hpp>
#include <tilefold/detail/cuda/block_fold.cuh>
#include <tilefold/detail/cuda/cluster.cuh>
#include <tilefold/detail/cuda/float_flags.cuh>
#include <tilefold/detail/cuda/fold/stream.cuh>
#include <tilefold/detail/cuda/tiles_ahead.cuh>
#include <tilefold/policy.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold::detail::cuda {

/// How this translation unit is compiled, as a type: for which architectures, and what the default
/// stream is. Part of every kernel's and executor's type: the linker may merge equal templates of
/// two objects, and must not take a kernel that was compiled for other GPUs.
template <bool PerThreadStream, int... Archs>
struct build {
  static constexpr bool per_thread_stream = PerThreadStream;
};
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
using this_build = build<true, __CUDA_ARCH_LIST__>;
#else
using this_build = build<false, __CUDA_ARCH_LIST__>;
#endif

// Partials that a thread folds when its block is the last of a group.
inline constexpr int group_vt = 4;

/// Partials per group.
TILEFOLD_HD constexpr int group_size(tile_policy policy) { return policy.nt * group_vt; }

/// Scratch of one launch: a partial per tile, per group of tiles, per group of groups...; an
/// arrival counter per group of each level, zero before the launch and zero again after it.
template <class Acc>
struct scratch {
  Acc* partials;
  unsigned* arrivals;
};

/// How the tiles are dealt out: block b has `share` of them, the first `extra` blocks one more.
struct tile_shares {
  unsigned share;
  unsigned extra;

  __device__ unsigned first(unsigned block) const { return block * share + min(block, extra); }
};

/// The reducer as the kernels use it, its steps closed to fusion with each other
/// (detail/closing.hpp).
template <class Reducer>
struct unfused : Reducer {
  using accumulator = typename Reducer::accumulator;
  border closing;

  template <class... Values>
  __device__ __forceinline__ accumulator lift(const Values&... values) const {
    return steps().lift(values...);
  }
  __device__ __forceinline__ accumulator combine(const accumulator& a, const accumulator& b) const {
    return steps().combine(a, b);
  }
  __device__ __forceinline__ accumulator combine_open(const accumulator& a,
                                                      const accumulator& b) const {
    return steps().combine_open(a, b);
  }
  __device__ __forceinline__ accumulator closed(const accumulator& combined) const {
    return steps().closed(combined);
  }
  __device__ __forceinline__ accumulator combine_equals(const accumulator& a,
                                                        const accumulator& b) const {
    return steps().combine_equals(a, b);
  }
  template <class... Values>
  __device__ __forceinline__ void absorb(accumulator& value, const Values&... values) const {
    if constexpr (Reducer::absorbs) {
      Reducer::absorb(value, values...);
    } else {
      new (&value) accumulator(combine(value, lift(values...)));
    }
  }
  __device__ __forceinline__ typename Reducer::result project(const accumulator& value) const {
    return steps().project(value);
  }

 private:
  __device__ __forceinline__ closed_steps<Reducer> steps() const { return {*this, closing}; }
};

/// Folds partials: they are accumulators already.
template <class Reducer>
struct partials_reducer {
  using accumulator = typename Reducer::accumulator;
  static constexpr bool commutative = Reducer::commutative;
  static constexpr bool may_pad = pads<Reducer>;
  const Reducer& reducer;

  __device__ __forceinline__ static accumulator neutral() { return Reducer::neutral(); }
  __device__ __forceinline__ const accumulator& lift(const accumulator& value) const {
    return value;
  }
  __device__ __forceinline__ accumulator combine(const accumulator& a, const accumulator& b) const {
    return reducer.combine(a, b);
  }
};

/// Lets the next launch of the stream begin as soon as there is room for it, and waits for the end
/// of the one before. So the start of one launch overlaps with the end of another. This launch may
/// not touch memory before this call. Has no effect unless the launch allows it (launch.cuh).
__device__ __forceinline__ void wait_for_previous_launch() {
  cuda::refuse_flush_to_zero();  // here, because every kernel that folds waits
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Counts `arrived` partials that this thread has written, of a group of `group_count`. Returns
/// whether that completes the group: then the partials of the other threads can be read.
__device__ __forceinline__ bool count_in(unsigned* arrivals, unsigned arrived,
                                         unsigned group_count) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(arrivals), "r"(arrived)
               : "memory");
  if (before + arrived != group_count) return false;
  *arrivals = 0;  // nobody else comes; zero for the next launch
  return true;
}

/// The same for a block whose first thread has written the partials; the answer is in every thread.
/// `completed` is shared memory.
__device__ __forceinline__ bool arrive(unsigned* arrivals, unsigned arrived, unsigned group_count,
                                       bool& completed) {
  if (threadIdx.x == 0) completed = cuda::count_in(arrivals, arrived, group_count);
  __syncthreads();
  return completed;
}

/// Writes a result through `out`, converted to what it holds if it says so (an output iterator need
/// not).
template <class Out, class T>
__device__ __forceinline__ void write(Out out, const T& result) {
  detail::write_through(out, detail::output_value<Out>(result));
}

/// The place of the only result of a launch. For a caller that waits for the result there is also a
/// word of pinned memory, which becomes `ticket` when the result is there.
template <class T>
struct result_place {
  T* value;
  unsigned* ticket_at;  // null if nobody waits
  unsigned ticket;
};

template <class T, class Result>
__device__ __forceinline__ void write(result_place<T> out, const Result& result) {
  cuda::write(out.value, result);
  if (out.ticket_at == nullptr) return;
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(out.ticket_at)),
               "r"(out.ticket)
               : "memory");
}

/// The place of a result that is the last thing its launch writes: `flag` is set to zero before it.
template <class Out>
struct cleared_before {
  Out out;
  unsigned* flag;
};

template <class Out, class Result>
__device__ __forceinline__ void write(cleared_before<Out> to, const Result& result) {
  *to.flag = 0;
  cuda::write(to.out, result);
}

/// One block's work in a launch.
template <tile_policy Policy, class Source, class Reducer, class Init, class Out>
class block_work {
  using acc = typename Reducer::accumulator;
  using full_tile = tile_fold<Policy, true, Source, Reducer>;
  using ahead = tile_ahead<Policy, Source, Reducer>;
  using cut_tile = tile_fold<Policy, false, Source, Reducer>;
  using partials_source = detail::source<const acc*>;
  using group_reducer = partials_reducer<Reducer>;
  static constexpr unsigned group = group_size(Policy);
  using group_fold =
      tile_fold<tile_policy{Policy.nt, group_vt}, false, partials_source, group_reducer>;

 public:
  // Two sets of warp values, used in turn: a warp may write the next tile's while the first warp
  // still reads this one's, and a barrier per tile is enough.
  struct shared_memory {
    slot<acc> warp_values[2][Policy.nt / warp_size];
    bool completed;
  };

  const Source& source;
  const Reducer& reducer;
  const Init& init;
  const Out& out;
  std::int64_t n;
  shared_memory& shared;

  __device__ __forceinline__ void run(const tile_shares& shares, scratch<acc> memory) {
    const unsigned begin = shares.first(blockIdx.x);
    const unsigned end = shares.first(blockIdx.x + 1);
    const unsigned tiles = shares.first(gridDim.x);
    fold_tiles(memory.partials, begin, end, tiles);
    climb_from(memory, begin, end, tiles);
  }

  /// Writes the value of a node, one of `count` of its level: as a partial, or as the result if it
  /// is the only one.
  __device__ __forceinline__ void keep(const acc& value, acc* partial, unsigned count) const {
    if (threadIdx.x != 0) return;
    if (count > 1) {
      new (partial) acc(value);
    } else {
      cuda::write(out, detail::finish(reducer, init, value));
    }
  }

  /// Called after keep() of this block's tiles, [t, end) of `tiles`: folds the groups that this
  /// block completes, level by level.
  __device__ __forceinline__ void climb_from(scratch<acc> memory, unsigned t, unsigned end,
                                             unsigned tiles) const {
    if (tiles == 1) return;
    while (t < end) {
      const unsigned next = min(end, (t / group + 1) * group);
      climb(memory, tiles, t / group, next - t);
      t = next;
    }
  }

  /// Adds the value of this block, one of gridDim.x, to the fold.
  __device__ __forceinline__ void add_block(const acc& value, scratch<acc> memory) const {
    keep(value, memory.partials + blockIdx.x, gridDim.x);
    climb(memory, gridDim.x, blockIdx.x / group, 1);
  }

 private:
  __device__ __forceinline__ acc* warp_values(unsigned turn) const {
    return &shared.warp_values[turn % 2][0].value;
  }

  // Only the last tile of all lacks items, or the last two lack some that a full fold overreads.
  __device__ __forceinline__ void fold_tiles(acc* partials, unsigned t, unsigned end,
                                             unsigned tiles) {
    if constexpr (ahead::pays) {
      if (full_tile::overread_items(source) == 0) t = fold_tiles_ahead(partials, t, end, tiles);
    }
#pragma unroll 1
    for (; t < end && is_whole(t); ++t) {
      keep(full_tile::fold(source, reducer, first_item(t), Policy.tile(), warp_values(t)),
           partials + t, tiles);
    }
#pragma unroll 1
    for (; t < end; ++t) {
      keep(cut_tile::fold(source, reducer, first_item(t), items_in(t), warp_values(t)),
           partials + t, tiles);
    }
  }

  // Returns the first tile that is not whole.
  __device__ __forceinline__ unsigned fold_tiles_ahead(acc* partials, unsigned t, unsigned end,
                                                       unsigned tiles) {
    if (t == end || !is_whole(t)) return t;
    return cuda::stream_ahead<typename ahead::items>(
        t, [&](unsigned& next) { return ++next < end && is_whole(next); },
        [&](unsigned at) { typename ahead::items items; ahead::load(items, source, first_item(at)); return items; },
        [&](const auto& items, unsigned at) {
          keep(ahead::fold(items, reducer, warp_values(at)), partials + at, tiles);
        });
  }

  __device__ bool is_whole(unsigned t) const {
    return first_item(t + 1) + full_tile::overread_items(source) <= n;
  }
  __device__ static std::int64_t first_item(unsigned t) { return std::int64_t{t} * Policy.tile(); }
  __device__ int items_in(unsigned t) const {
    return static_cast<int>(min(n - first_item(t), std::int64_t{Policy.tile()}));
  }

  // Arrives at group `g` of `count` partials with `arrived` of them; as long as that completes
  // groups, folds them and goes on one level up.
  __device__ __forceinline__ void climb(scratch<acc> memory, unsigned count, unsigned g,
                                        unsigned arrived) const {
    while (count > 1) {
      const unsigned num_groups = (count + group - 1) / group;
      const unsigned group_count = min(group, count - g * group);
      const bool completed = arrive(memory.arrivals + g, arrived, group_count, shared.completed);
      // Read by all before the next arrival writes it.
      __syncthreads();
      if (!completed) return;
      keep(group_fold::fold(partials_source{{memory.partials}}, group_reducer{reducer},
                            std::int64_t{g} * group, static_cast<int>(group_count), warp_values(0)),
           memory.partials + count + g, num_groups);
      memory.partials += count;
      memory.arrivals += num_groups;
      count = num_groups;
      g /= group;
      arrived = 1;
    }
  }
};

/// Blocks that one SM shall hold at least: 1024 threads with 64 bytes each in flight are what hides
/// the memory's latency. Large accumulators need the registers themselves.
constexpr int min_resident_blocks(int nt, std::size_t acc_bytes) {
  return acc_bytes > 8 ? 1 : 1024 / nt;
}

/// The same where a thread keeps an accumulator of its own.
constexpr int min_resident_free_blocks(int nt, std::size_t acc_bytes) {
  return detail::larger((acc_bytes > 32 ? 512 : acc_bytes > 16 ? 768 : 1024) / nt, 1);
}

// The policy as two ints: nvcc 13.0 writes host code that does not compile for a kernel whose
// template argument is of class type.
template <class Build, int Nt, int Vt, class Source, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(Nt,
                                  min_resident_blocks(Nt, sizeof(typename Reducer::accumulator)))
    tile_kernel(Source source, Reducer reducer, Init init, Out out, std::int64_t n,
                tile_shares shares, scratch<typename Reducer::accumulator> memory) {
  using work = block_work<tile_policy{Nt, Vt}, Source, Reducer, Init, Out>;
  __shared__ typename work::shared_memory shared;
  cuda::wait_for_previous_launch();
  work{source, reducer, init, out, n, shared}.run(shares, memory);
}

/// Larger accumulators are not handed on in short ranges: there, one block folds them alone.
inline constexpr int most_shared_bytes = 32;

/// The partials of a short range. One warp folds them, each lane a run of `run` neighbours. So that
/// loads are coalesced, the first partials of all lanes lie side by side, then the second ones, and
/// so on: partial i lies at i % run * 32 + i / run.
template <class Reducer>
struct short_partials {
  using acc = typename Reducer::accumulator;
  static constexpr int run = 8;
  static constexpr int most = run * warp_size;
  acc* partials;

  __device__ __forceinline__ acc* place(unsigned i) const {
    return partials + (i % run * warp_size + i / run);
  }

  /// The node of the first `count`, in every lane of the first warp.
  __device__ __forceinline__ acc fold(const Reducer& reducer, int count) const {
    const int first = static_cast<int>(threadIdx.x) * run;
    registers<acc, run> mine;
    // No load is under a condition: there are too few predicate registers, so some loads would wait
    // for others.
#pragma unroll
    for (int i = 0; i < run; ++i) {
      mine.put(i, *place(static_cast<unsigned>(min(first + i, count - 1))));
    }
    constexpr bool full = pads<Reducer>;
    if constexpr (full) {
#pragma unroll
      for (int i = 0; i < run; ++i) {
        mine.put(i, cuda::select(first + i < count, mine[i], Reducer::neutral()));
      }
    }
    registers<acc, 1> node;
    node.put(0, cuda::fold_packet<full>(reducer, mine, first, count));
    return row_fold<1, run, full, Reducer>(reducer, 0, count).fold(node);
  }
};

/// Called by the first warp of each block of a cluster, with the block's value. In block 0, `value`
/// becomes the node of the first `blocks` blocks, and the function returns true.
template <class Reducer, class Acc>
__device__ __forceinline__ bool fold_cluster(cluster_exchange<Acc>& exchange,
                                             const Reducer& reducer, int blocks, slot<Acc>& value) {
  exchange.hand_in(value.value);
  if (blockIdx.x != 0) return false;
  const int block = static_cast<int>(threadIdx.x % cluster_blocks);
  registers<Acc, 1> node;
  node.put(0, from_words<Acc>(exchange.values[block]));
  using nodes_fold = row_fold<1, 1, pads<Reducer>, Reducer, cluster_blocks>;
  value.put(nodes_fold(reducer, 0, blocks, block).fold(node));
  return true;
}

/// Called by the first warp of each block, with the block's value. In the last block to arrive,
/// `value` becomes the node of all blocks, and the function returns true.
template <class Reducer, class Acc>
__device__ __forceinline__ bool fold_blocks(scratch<Acc> memory, const Reducer& reducer,
                                            slot<Acc>& value) {
  const short_partials<Reducer> partials{memory.partials};
  bool completed = false;
  if (threadIdx.x == 0) {
    new (partials.place(blockIdx.x)) Acc(value.value);
    completed = cuda::count_in(memory.arrivals, 1, gridDim.x);
  }
  if (!__any_sync(full_warp, completed)) return false;
  __syncwarp();
  value.put(partials.fold(reducer, static_cast<int>(gridDim.x)));
  return true;
}

/// The fold of a short range: a tile a block, and a block has any power of two of warps up to
/// Nt / 32. Where blocks have values to hand on, there are three ways:
///
///     one block         its value is the result
///     a cluster         block 0:  [v0 v1 .. v7]   8 blocks write into the first's shared memory
///                                                 (cluster.cuh); its first warp folds the values
///     up to 256 blocks  lane 0:   p0  p1 ..  p7   values in the workspace; the first warp of the
///                       lane 1:   p8  p9 .. p15   last block to arrive folds them, 8 a lane
///
/// Several blocks are a cluster if `memory` holds no partials.
template <class Build, int Nt, int Vt, class Source, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(Nt)
    short_kernel(Source source, Reducer reducer, Init init, Out out, int n,
                 scratch<typename Reducer::accumulator> memory) {
  using acc = typename Reducer::accumulator;
  using fold = tile_fold<tile_policy{Nt, Vt}, false, Source, Reducer, true>;
  __shared__ slot<acc> warp_values[Nt / warp_size];
  constexpr bool shared = sizeof(acc) <= most_shared_bytes;
  __shared__ cluster_exchange<std::conditional_t<shared, acc, char>> exchange;
  const int tile = static_cast<int>(blockDim.x) * Vt;
  const int first = static_cast<int>(blockIdx.x) * tile;
  const bool several = shared && gridDim.x > 1;
  const bool in_cluster = has_clusters() && several && memory.partials == nullptr;
  if (in_cluster) exchange.begin();
  cuda::wait_for_previous_launch();
  slot<acc> value;
  value.put(fold::fold(source, reducer, first, n - first, &warp_values[0].value,
                       static_cast<int>(blockDim.x) / warp_size));
  if (threadIdx.x >= warp_size) return;
  if constexpr (shared) {
    if (in_cluster) {
      if (!cuda::fold_cluster(exchange, reducer, (n + tile - 1) / tile, value)) return;
    } else if (several) {
      if (!cuda::fold_blocks(memory, reducer, value)) return;
    }
  }
  if (threadIdx.x == 0) cuda::write(out, detail::finish(reducer, init, value.value));
}

}  // namespace tilefold::detail::cuda
