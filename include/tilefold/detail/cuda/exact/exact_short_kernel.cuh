// SPDX-License-Identifier: Apache-2.0
//
// The exact sum of a short range, by one block or by a cluster, where only latencies count:
//
//     warp      a chunk of 32 * 8 items or two; its sum goes to places of 16 bits of the block
//               (add_near, wide_by_warp), or as digits, at the end, if items are far apart
//     cluster   blocks hand their places to the first one, whose first warp adds them up
//
// That warp makes one number of the places, and a thread rounds it.
#pragma once

#include <tilefold/detail/cuda/base/cluster.cuh>
#include <tilefold/detail/cuda/exact/exact_kernel.cuh>
#include <tilefold/detail/cuda/exact/limbs.cuh>
#include <tilefold/detail/cuda/exact/tuning_exact.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

// A warp's sum of items that are near each other. A lane adds its 8 items to two running doubles:
//
//     sum 0     begins at 1.5 * 2^(u + 52): takes an item rounded to a multiple of 2^u
//     sum 1     begins at 1.5 * 2^(u + 3): what is left of it, a multiple of 2^(u - 49)
//     u         so that the lane's items cannot sum up to 2^(u + 51)
//
// The bits of the sums less those of their beginnings are integers; the warp adds them up, and ten
// lanes bring their pieces to the places of the total.

/// Adds N items of every lane to `places`, if they are finite and near each other; returns whether
/// they are, and in `seen_here` the marks of what they are. All lanes.
template <class State, int N>
TILEFOLD_D bool add_near(wide_places<State>& places, unsigned& seen_here,
                         const registers<float, N>& items, int lane) {
  static_assert(N <= 8);
  constexpr int digits = 23;  // below the first one
  constexpr int most_spread = 96 - digits;
  unsigned most = 0;
  unsigned least = ~0u;  // of those that are not 0, less 1
  int all = -1;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const auto x = static_cast<double>(items[i]);
    const int high = __double2hiint(x);
    const unsigned size = static_cast<unsigned>(high) & 0x7fffffffu;
    most = (max)(most, size);
    least = (min)(least, size - 1);
    all &= high;
  }
  const bool other = __any_sync(full_warp, all >= 0 || most != 0);
  const int top = cuda::warp_max(static_cast<int>(most)) >> 20;
  const int bottom = (-cuda::warp_max(-static_cast<int>(least & 0x7fffffffu)) >> 20);
  // Doubles near the ends of their range have no anchors. Zeros alone are not added here, either.
  if (top > 2040 || top < 128 || top - bottom > most_spread) return false;
  seen_here = static_cast<unsigned>(other ? seen::other : seen::minus_zero);
  const int unit = top - 1070;
  const double beginning[2] = {__hiloint2double((unit + 52 + 1023) << 20 | 0x80000, 0),
                               __hiloint2double((unit + 3 + 1023) << 20 | 0x80000, 0)};
  double sum[2] = {beginning[0], beginning[1]};
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const auto x = static_cast<double>(items[i]);
    const double h = __dadd_rn(sum[0], x);
    sum[1] = __dadd_rn(sum[1], __dadd_rn(x, -__dadd_rn(h, -sum[0])));
    sum[0] = h;
  }
  long long of_warp[2];
#pragma unroll
  for (int s = 0; s < 2; ++s) {
    of_warp[s] =
        cuda::warp_sum_of_digits(__double_as_longlong(sum[s]) - __double_as_longlong(beginning[s]));
  }
  if (lane < 2 * wide_places<State>::pieces) {
    const bool upper = lane < wide_places<State>::pieces;
    places.add_piece(upper ? of_warp[0] : of_warp[1], upper ? unit : unit - 49,
                     upper ? lane : lane - wide_places<State>::pieces);
  }
  return true;
}

/// The sum of a block.
template <class State>
struct exact_block_sum {
  wide_places<State> places;
  alignas(8) unsigned marks;
};

/// A cluster_exchange of values in shared memory, which all lanes of the first warp send.
template <class Sum>
struct sum_exchange : cluster_exchange<Sum> {
  TILEFOLD_D void hand_in([[maybe_unused]] const Sum& value, [[maybe_unused]] unsigned block,
                          [[maybe_unused]] int lane) {
#if __CUDA_ARCH__ >= 900
    const auto* const word = reinterpret_cast<const unsigned*>(__builtin_addressof(value));
    const unsigned target = this->of_first(this->values + block);
    const unsigned barrier = this->of_first(&this->received);
    for (int i = lane; i < words<Sum>::count; i += warp_size) {
      this->send(target + 4 * i, word[i], barrier);
    }
    if (block == 0) this->wait();
    __syncwarp();
#endif
  }

  /// What a block has handed in.
  TILEFOLD_D const Sum& of_block(int block) const {
    return reinterpret_cast<const Sum&>(this->values[block]);
  }
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
  constexpr int width = packet_width_of<vt>(static_cast<const Source*>(nullptr));
  constexpr int stripes = vt / width;
  constexpr int chunk_items = warp_size * vt;
  __shared__ Digits digits[exact_short_policy.nt / warp_size];
  __shared__ sum_type sum;
  __shared__ sum_exchange<sum_type> exchange;
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

  const int step = static_cast<int>(gridDim.x) * num_warps * chunk_items;
  unsigned marks = 0;
  bool far = false;
#pragma unroll 1
  for (int chunk_first = (static_cast<int>(blockIdx.x) * num_warps + warp) * chunk_items;
       chunk_first < n; chunk_first += step) {
    registers<number, vt> items;
    lane_stripes<Source, stripes, width> loaded;
#pragma unroll
    for (int r = 0; r < stripes; ++r) {
      const int first = chunk_first + (r * warp_size + lane) * width;
      const int available = detail::bounded(n - first, 0, width);
      loaded.load_one(source, first, r, available);
#pragma unroll
      for (int j = 0; j < width; ++j) {
        // -0 changes no sum.
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
    exchange.hand_in(sum, blockIdx.x, lane);
    if (blockIdx.x != 0) return;
    for (int i = lane; i < sum.places.count; i += warp_size) {
      int all = 0;
#pragma unroll
      for (int b = 0; b < cluster_blocks; ++b) all += exchange.of_block(b).places.place[i];
      sum.places.place[i] = all;
    }
    const unsigned of_block = lane < cluster_blocks ? exchange.of_block(lane).marks : 0;
    const unsigned of_all = cuda::warp_or(of_block);
    if (lane == 0) sum.marks = of_all;
    __syncwarp();
  }
  cuda::write_sum_of_places(sum.places, sum.marks, reducer, init, out, n, lane);
}

}  // namespace tilefold::detail::cuda
