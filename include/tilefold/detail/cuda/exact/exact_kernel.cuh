// SPDX-License-Identifier: Apache-2.0
//
// Exact sums at the speed of memory:
//
//     warp        chunks of 32 * vt items; the next one loads while this one is added to the warp's
//                 own sums in shared memory, which are integers: of digits (exact_digits.cuh)
//     block       the sum of its warps'
//     launch      integer atomics; a warp of the last block to arrive makes one number of them, and
//                 a thread rounds it
//
// No order enters.
#pragma once

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/exact/exact_bins.cuh>
#include <tilefold/detail/cuda/exact/exact_digits.cuh>
#include <tilefold/detail/cuda/exact/exact_integer_bins.cuh>
#include <tilefold/detail/cuda/exact/wide_by_warp.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

/// What blocks of a launch add to; zero between launches.
template <int Words>
struct digit_sums {
  unsigned long long word[Words];
  unsigned marks;
  unsigned arrivals;
};

/// What makes an accumulator of an exact sum.
template <class Reducer>
struct exact_sum_of;
template <class R, class Lift, class... Values>
struct exact_sum_of<closed_reducer<bound_reducer<R, Lift, Values...>>>
    : ways<R>::template holder<typename bound_reducer<R, Lift, Values...>::accumulator> {};

/// What adds short ranges where items are `Number` and sums `State`: halves are integers.
template <class Number, class State>
struct digits_for {
  using type = warp_digits<Number>;
};
template <>
struct digits_for<float, exact_format<half>::sum> {
  using type = warp_integers;
};

/// What adds long ranges: numbers that are `Item` each, or products.
template <class Number, class State, class Item>
struct long_digits_for {
  using type = warp_products;
};
template <class Item>
struct long_digits_for<float, exact_format<float>::sum, Item> {
  using type = std::conditional_t<is_bfloat16<Item>, warp_windows, warp_bins<>>;
};
template <class Item>
struct long_digits_for<double, exact_format<double>::sum, Item> {
  using type = warp_integer_bins;
};

/// After so many chunks a warp has to empty its Digits; 0: never.
template <class Digits>
inline constexpr int chunks_to_empty = 0;
template <class Digits>
  requires requires { Digits::chunks_to_empty; }
inline constexpr int chunks_to_empty<Digits> = Digits::chunks_to_empty;

/// How a warp reads a chunk of vt items a lane.
template <class Source, int Vt>
struct exact_shape {
  static constexpr int vt = Vt;
  static constexpr int width = packet_width_of<vt>(static_cast<const Source*>(nullptr));
  static constexpr int stripes = vt / width;
};

/// Writes the sum of n elements that `places` and `marks` hold; by one warp.
template <class State, class Reducer, class Init, class Out, class Count>
__device__ __forceinline__ void write_sum_of_places(wide_places<State>& places, std::uint64_t marks,
                                                    const Reducer& reducer, const Init& init,
                                                    const Out& out, Count n, int lane) {
  wide_by_warp<State> whole(places, lane);
  if constexpr (std::is_same_v<Init, no_init>) {
    const exact_window window = whole.window(marks);
    if (lane == 0) cuda::write(out, reducer.result_of_exact_sum(window, n));
  } else if (lane == 0) {
    State state{};
    for (int i = 0; i < State::words; ++i) state.sum.word[i] = places.word(i);
    state.marks = marks;
    cuda::write(out, detail::finish(reducer, init, reducer.of_exact_sum(state, n)));
  }
}

/// The exact sum of n >= 1 elements. `Summands` lifts an element to the float or double that a
/// warp's Digits add. More than one block need `sums`.
template <class Build, class Digits, class Source, class Reducer, class Summands, class Init,
          class Out>
__global__ void __launch_bounds__(Digits::policy.nt, Digits::min_resident_blocks)
    exact_kernel(Source source, Reducer reducer, Summands summands, Init init, Out out,
                 std::int64_t n, digit_sums<Digits::words>* sums) {
  using number = typename Summands::accumulator;
  using state_type = typename exact_sum_of<Reducer>::state;
  constexpr tile_policy policy = Digits::policy;
  constexpr int width = exact_shape<Source, policy.vt>::width;
  constexpr int stripes = exact_shape<Source, policy.vt>::stripes;
  constexpr int chunk = warp_size * policy.vt;
  constexpr int num_warps = policy.nt / warp_size;
  using stripes_type = lane_stripes<Source, stripes, width>;
  __shared__ Digits digits[num_warps];
  __shared__ wide_places<state_type> total;
  __shared__ bool completed;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  Digits& mine = digits[warp];
  mine.clear(lane);
  if (warp == 0) total.clear(lane);
  cuda::wait_for_previous_launch();

  const std::int64_t step = std::int64_t{gridDim.x} * num_warps;
  const std::int64_t overread = stripes_type::overreads(source) ? width : 0;
  const std::int64_t whole = n < overread ? 0 : (n - overread) / chunk;
  std::int64_t c = std::int64_t{blockIdx.x} * num_warps + warp;
  const auto lane_first = [&](std::int64_t i) { return i * chunk + lane * width; };
  [[maybe_unused]] int room = chunks_to_empty<Digits>;
  const auto added_one = [&] {
    if constexpr (chunks_to_empty<Digits> > 0) {
      if (--room == 0) {
        mine.empty(lane);
        room = chunks_to_empty<Digits>;
      }
    }
  };
  // Adds whole chunks from c on, as long as nothing in them is rare; returns the first other one.
  const auto whole_chunks = [&](std::int64_t c) {
    if (c >= whole) return c;
    stripes_type next;
    next.load_all(source, lane_first(c));
    bool done = true;
#pragma unroll 1
    do {
      registers<number, policy.vt> items;
#pragma unroll
      for (int i = 0; i < policy.vt; ++i) items.put(i, next.lift(summands, i / width, i % width));
      if (c + step < whole) next.load_all(source, lane_first(c + step));  // while these are cut
      done = mine.add(items, lane);
      if (done) {
        added_one();
        c += step;
      }
    } while (done && c < whole);
    return c;
  };
  // Then one chunk with care. Apart, because its code must not take the next chunk's registers.
#pragma unroll 1
  while (c * chunk < n) {
    if (overread == 0) {
      // Then the compiler leaves out the code for misaligned memory.
      const bool aligned = !stripes_type::overreads(source);
      __builtin_assume(aligned);
      c = whole_chunks(c);
    } else {
      c = whole_chunks(c);
    }
    if (c * chunk >= n) break;
    registers<number, policy.vt> items;
    stripes_type loaded;
#pragma unroll
    for (int r = 0; r < stripes; ++r) {
      const std::int64_t first = lane_first(c) + r * warp_size * width;
      const auto available =
          static_cast<int>(detail::bounded(n - first, std::int64_t{0}, std::int64_t{width}));
      loaded.load_one(source, first, r, available);
#pragma unroll
      for (int j = 0; j < width; ++j) {
        // -0 is nothing to a sum.
        items.put(r * width + j, j < available ? loaded.lift(summands, r, j) : -number{0});
      }
    }
    while (!mine.add(items, lane)) mine.take_rare(items, lane);
    added_one();
    c += step;
  }
  if constexpr (chunks_to_empty<Digits> > 0) mine.empty(lane);

  __syncthreads();
  // The block's sums, in those of its first warp.
  for (int s = static_cast<int>(threadIdx.x); s < Digits::words; s += policy.nt) {
    long long sum = 0;
    for (int w = 0; w < num_warps; ++w) sum += digits[w].word[s];
    digits[0].word[s] = sum;
    if (gridDim.x > 1 && sum != 0) {
      atomicAdd(sums->word + s, static_cast<unsigned long long>(sum));
    }
  }
  if (threadIdx.x == 0) {
    unsigned marks = 0;
    for (int w = 0; w < num_warps; ++w) marks |= digits[w].marks;
    digits[0].marks = marks;
    if (gridDim.x > 1 && marks != 0) atomicOr(&sums->marks, marks);
  }
  __syncthreads();
  if (gridDim.x > 1) {
    if (!cuda::arrive(&sums->arrivals, 1, gridDim.x, completed)) return;
    // All others have arrived: zero for the next launch.
    for (int s = static_cast<int>(threadIdx.x); s < Digits::words; s += policy.nt) {
      digits[0].word[s] = static_cast<long long>(sums->word[s]);
      sums->word[s] = 0;
    }
    if (threadIdx.x == 0) {
      digits[0].marks = sums->marks;
      sums->marks = 0;
    }
    __syncthreads();
  }
  if (warp != 0) return;
  for (int s = lane; s < Digits::words; s += warp_size) {
    const long long sum = digits[0].word[s];
    if (sum != 0) total.add(sum, Digits::exponent(s));
  }
  cuda::write_sum_of_places(total, digits[0].marks, reducer, init, out, n, lane);
}

}  // namespace tilefold::detail::cuda
