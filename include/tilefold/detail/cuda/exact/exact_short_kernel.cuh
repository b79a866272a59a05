// SPDX-License-Identifier: Apache-2.0
//
// The exact sum of a short range, by one block or by a cluster, where latencies are all that
// counts:
//
//     warp      a chunk of 32 * 8 items or two; its sum goes to places of 16 bits of the block
//               (exact_near.cuh, wide_by_warp.cuh), or as digits, at the end, if items are far
//               apart
//     cluster   blocks hand their places to the first one, whose first warp adds them up
//
// That warp makes one number of them, and a thread rounds it. Device code.
#pragma once

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/base/cluster.cuh>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/exact/exact_kernel.cuh>
#include <tilefold/detail/cuda/exact/exact_near.cuh>
#include <tilefold/detail/cuda/exact/tuning_exact.cuh>
#include <tilefold/detail/cuda/exact/wide_by_warp.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>

namespace tilefold::detail::cuda {

/// What a block has added up.
template <class State>
struct exact_block_sum {
  wide_places<State> places;
  alignas(8) unsigned marks;
};

/// The exact sum of n >= 1 elements. Several blocks are a cluster.
template <class Build, class Digits, class Source, class Reducer, class Summands, class Init,
          class Out>
__global__ void __launch_bounds__(exact_short_policy.nt)
    exact_short_kernel(Source source, Reducer reducer, Summands summands, Init init, Out out,
                       int n) {
  using number = typename Summands::accumulator;
  using state_type = typename exact_sum_of<Reducer>::state;
  using sum_type = exact_block_sum<state_type>;
  constexpr int vt = exact_short_policy.vt;
  constexpr int width = exact_shape<Source, vt>::width;
  constexpr int stripes = exact_shape<Source, vt>::stripes;
  constexpr int chunk = warp_size * vt;
  __shared__ Digits digits[exact_short_policy.nt / warp_size];
  __shared__ sum_type sum;
  __shared__ cluster_exchange<sum_type> exchange;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int num_warps = static_cast<int>(blockDim.x) / warp_size;
  const bool in_cluster = has_clusters() && gridDim.x > 1;
  Digits& mine = digits[warp];
  mine.clear(lane);
  if (warp == 0) {
    sum.places.clear(lane);
    if (lane == 0) sum.marks = 0;
  }
  __syncthreads();
  if (in_cluster) exchange.begin(blockIdx.x);
  cuda::wait_for_previous_launch();

  const int step = static_cast<int>(gridDim.x) * num_warps * chunk;
  unsigned marks = 0;
  bool far = false;
#pragma unroll 1
  for (int c = (static_cast<int>(blockIdx.x) * num_warps + warp) * chunk; c < n; c += step) {
    registers<number, vt> items;
    lane_stripes<Source, stripes, width> loaded;
#pragma unroll
    for (int r = 0; r < stripes; ++r) {
      const int first = c + (r * warp_size + lane) * width;
      const int available = detail::bounded(n - first, 0, width);
      loaded.load_one(source, first, r, available);
#pragma unroll
      for (int j = 0; j < width; ++j) {
        // -0 is nothing to a sum.
        items.put(r * width + j, j < available ? loaded.lift(summands, r, j) : -number{0});
      }
    }
    unsigned seen_here = 0;
    if (cuda::add_near(sum.places, seen_here, items, lane)) {
      marks |= seen_here;
    } else {
      far = true;
      while (!mine.add(items, lane)) mine.take_rare(items, lane);
    }
  }
  if (far) {
    __syncwarp();
    for (int s = lane; s < Digits::words; s += warp_size) {
      if (mine.word[s] != 0) sum.places.add(mine.word[s], Digits::exponent(s));
    }
    marks |= mine.marks;
  }
  if (lane == 0 && marks != 0) atomicOr(&sum.marks, marks);
  __syncthreads();
  if (warp != 0) return;

  if (in_cluster) {
    exchange.hand_in_by_warp(sum, blockIdx.x, lane);
    if (blockIdx.x != 0) return;
    for (int i = lane; i < sum.places.count; i += warp_size) {
      int all = 0;
#pragma unroll
      for (int b = 0; b < cluster_blocks; ++b) all += exchange.in_place(b).places.place[i];
      sum.places.place[i] = all;
    }
    const unsigned of_block = lane < cluster_blocks ? exchange.in_place(lane).marks : 0;
    const unsigned of_all = cuda::warp_or(of_block);
    if (lane == 0) sum.marks = of_all;
    __syncwarp();
  }
  cuda::write_sum_of_places(sum.places, sum.marks, reducer, init, out, n, lane);
}

}  // namespace tilefold::detail::cuda
