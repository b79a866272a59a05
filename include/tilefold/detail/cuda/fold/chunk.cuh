// SPDX-License-Identifier: Apache-2.0
//
// A chunk: stripes of packets in the registers of a warp, here 4 stripes of packets of 4 items.
//
//     items     0 1 2 3   4 5 6 7   ...   124 .. 127   |   128 ..   |  256 ..  |  384 .. 511
//     lane         0         1                31           0 1 ..       0 ..        0 .. 31
//              |               stripe 0                |  stripe 1  | stripe 2 |  stripe 3
//     lift      every item becomes an accumulator
//     packets   a lane folds each of its packets: its node of each stripe
//     stripes   stripe_fold (stripe_merge.cuh) makes them one node, in every lane
//
// Device code.
#pragma once

#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>

namespace tilefold::detail::cuda {

/// The first item of this lane's packet in stripe r.
template <int Width>
__device__ __forceinline__ int packet_first(int r) {
  return r * (warp_size * Width) + static_cast<int>(threadIdx.x) % warp_size * Width;
}

/// The items of this lane's packet in stripe r, lifted; without those from `count` on, unless all
/// exist (`Full`).
template <bool Full, class Reducer, class Source, int Stripes, int Width>
__device__ __forceinline__ registers<typename Reducer::accumulator, Width> lift_packet(
    const Reducer& reducer, const lane_stripes<Source, Stripes, Width>& loaded, int r, int count) {
  registers<typename Reducer::accumulator, Width> items;
#pragma unroll
  for (int j = 0; j < Width; ++j) {
    if (Full || cuda::packet_first<Width>(r) + j < count) {
      items.put(j, loaded.lift(reducer, r, j));
    }
  }
  return items;
}

/// This lane's node of each stripe.
template <bool Full, class Reducer, class Source, int Stripes, int Width>
__device__ __forceinline__ registers<typename Reducer::accumulator, Stripes> fold_packets(
    const Reducer& reducer, const lane_stripes<Source, Stripes, Width>& loaded, int count) {
  registers<typename Reducer::accumulator, Stripes> nodes;
#pragma unroll
  for (int r = 0; r < Stripes; ++r) {
    auto items = cuda::lift_packet<Full>(reducer, loaded, r, count);
    nodes.put(r, cuda::fold_packet<Full>(reducer, items, cuda::packet_first<Width>(r), count));
  }
  return nodes;
}

}  // namespace tilefold::detail::cuda
