// SPDX-License-Identifier: Apache-2.0
//
// The fold of a short range: a tile a block, and a block has any power of two of warps up to
// nt / 32. Three ways lead to the result:
//
//     one block         its value is the result
//     a cluster         block 0:  [v0 v1 .. v7]   8 blocks write into the first's shared memory
//                                                 (cluster.cuh); its first warp folds the values
//     up to 256 blocks  lane 0:   p0  p1 ..  p7   values in the workspace; the first warp of the
//                       lane 1:   p8  p9 .. p15   last block to arrive folds them, 8 a lane
#pragma once

#include <tilefold/detail/cuda/base/cluster.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>

namespace tilefold::detail::cuda {

/// The partials of a short range. One warp folds them, each lane `of_lane` neighbours. So that
/// loads are coalesced, the first partials of all lanes lie side by side, then the second ones, and
/// so on: partial i lies at i % of_lane * 32 + i / of_lane.
template <class Reducer>
struct short_partials {
  using acc = typename Reducer::accumulator;
  static constexpr int of_lane = 8;
  static constexpr int most = of_lane * warp_size;
  acc* partials;

  TILEFOLD_D acc* place(unsigned i) const {
    return partials + (i % of_lane * warp_size + i / of_lane);
  }

  /// The node of the first `count`, in every lane of the first warp.
  TILEFOLD_D acc fold(const Reducer& reducer, int count) const {
    const int first = static_cast<int>(threadIdx.x) * of_lane;
    registers<acc, of_lane> mine;
    // No load is under a condition: there are too few predicate registers, and loads would wait.
#pragma unroll
    for (int i = 0; i < of_lane; ++i) {
      mine.put(i, *place(static_cast<unsigned>((min)(first + i, count - 1))));
    }
    constexpr bool full = fold_traits<Reducer>::pads;
    if constexpr (full) {
#pragma unroll
      for (int i = 0; i < of_lane; ++i) {
        mine.put(i, cuda::select(first + i < count, mine[i], Reducer::neutral()));
      }
    }
    registers<acc, 1> node;
    node.put(0, cuda::fold_packet<full>(reducer, mine, first, count));
    return stripe_fold<1, of_lane, full, Reducer>(reducer, 0, count).fold(node);
  }
};

/// Called by the first warp of each block of a cluster, with the block's number and value. In block
/// 0, `value` becomes the node of the first `blocks` blocks, and the function returns true.
template <class Reducer, class Acc>
TILEFOLD_D bool fold_cluster(cluster_exchange<Acc>& exchange, const Reducer& reducer,
                             unsigned block, int blocks, slot<Acc>& value) {
  exchange.hand_in(value.value, block);
  if (block != 0) return false;
  const int number = static_cast<int>(threadIdx.x % cluster_blocks);
  using nodes = block_tree<cluster_blocks, 1, fold_traits<Reducer>::pads, Reducer>;
  value.put(nodes::fold_lanes(reducer, from_words<Acc>(exchange.values[number]), number, blocks));
  return true;
}

/// Called by the first warp of each block, with the block's value. In the last block to arrive,
/// `value` becomes the node of all blocks, and the function returns true.
template <class Reducer, class Acc>
TILEFOLD_D bool fold_blocks(scratch<Acc> memory, const Reducer& reducer, slot<Acc>& value) {
  const short_partials<Reducer> partials{memory.partials};
  bool completed = false;
  if (threadIdx.x == 0) {
    ::new (static_cast<void*>(partials.place(blockIdx.x))) Acc(value.value);
    completed = cuda::count_in(memory.arrivals, 1, gridDim.x);
  }
  if (!__any_sync(full_warp, completed)) return false;
  __syncwarp();
  value.put(partials.fold(reducer, static_cast<int>(gridDim.x)));
  return true;
}

/// The only range of a launch, which all blocks share.
template <class Source, class Acc>
struct one_short_range {
  static constexpr bool only_clusters = false;

  Source items;
  int n;
  scratch<Acc> partials;  // none if the blocks are a cluster

  TILEFOLD_D unsigned block() const { return blockIdx.x; }
  TILEFOLD_D unsigned blocks() const { return gridDim.x; }
  TILEFOLD_D const Source& source() const { return items; }
  TILEFOLD_D int size() const { return n; }
  TILEFOLD_D scratch<Acc> memory() const { return partials; }
  template <class Out>
  TILEFOLD_D const Out& place(const Out& out) const {
    return out;
  }
};

/// Folds a short range, or one of many (launch_forest.cuh). Its iterators may read memory, so they
/// are used only after wait_for_previous_launch().
template <class Build, int Nt, int Vt, class Range, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(Nt)
    short_kernel(Range range, Reducer reducer, Init init, Out out) {
  using acc = typename Reducer::accumulator;
  using source_type = std::remove_cvref_t<decltype(range.source())>;
  using fold = tile_fold<tile_policy{Nt, Vt}, false, source_type, Reducer, true>;
  __shared__ slot<acc> warp_values[Nt / warp_size];
  constexpr bool shared = sizeof(acc) <= most_shared_bytes;
  __shared__ cluster_exchange<std::conditional_t<shared, acc, char>> exchange;
  const unsigned block = range.block();
  const int n = range.size();
  const int tile = static_cast<int>(blockDim.x) * Vt;
  const int first = static_cast<int>(block) * tile;
  const bool several = shared && range.blocks() > 1;
  const bool in_cluster =
      has_clusters() && several && (Range::only_clusters || range.memory().partials == nullptr);
  if (in_cluster) exchange.begin(block);
  cuda::wait_for_previous_launch();
  slot<acc> value;
  value.put(fold::fold(range.source(), reducer, first, n - first,
                       __builtin_addressof(warp_values[0].value),
                       static_cast<int>(blockDim.x) / warp_size));
  if (threadIdx.x >= warp_size) return;
  if constexpr (shared) {
    if (in_cluster) {
      if (!cuda::fold_cluster(exchange, reducer, block, (n + tile - 1) / tile, value)) return;
    } else if (!Range::only_clusters && several) {
      if (!cuda::fold_blocks(range.memory(), reducer, value)) return;
    }
  }
  if (threadIdx.x == 0) cuda::write(range.place(out), detail::finish(reducer, init, value.value));
}

}  // namespace tilefold::detail::cuda
