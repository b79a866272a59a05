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
// No order enters. Device code.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/detail/bound_reducer.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/fold/exact_bins.cuh>
#include <tilefold/detail/cuda/fold/exact_digits.cuh>
#include <tilefold/detail/cuda/fold/exact_integers.cuh>
#include <tilefold/detail/cuda/fold/exact_products.cuh>
#include <tilefold/detail/cuda/fold/exact_rows.cuh>
#include <tilefold/detail/cuda/fold/exact_windows.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/wide_by_warp.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>
#include <tilefold/detail/exact_state.hpp>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// Words that warps ask for chunks: if all of them asked one, each would wait for the others.
inline constexpr int chunk_counters = 16;

/// What blocks of a launch add to; zero between launches.
template <int Words>
struct digit_sums {
  unsigned long long word[Words];
  unsigned marks;
  unsigned arrivals;
  int asked[chunk_counters];  // chunks that warps have asked for
};

/// What makes an accumulator of an exact sum.
template <class Reducer>
struct exact_sum_of;
template <class R, class Lift, class... Values>
struct exact_sum_of<unfused<bound_reducer<R, Lift, Values...>>>
    : ways<R>::template holder<typename bound_reducer<R, Lift, Values...>::accumulator> {};

/// What adds short ranges where items are `Number` and sums `State`: halves are integers.
template <class Number, class State>
struct exact_digits {
  using type = warp_digits<Number>;
};
template <>
struct exact_digits<float, exact_format<half>::sum> {
  using type = warp_integers;
};

/// What adds long ranges: numbers that are `Item` each, or products.
template <class Number, class State, class Item>
struct exact_long_digits {
  using type = warp_products;
};
template <class Item>
struct exact_long_digits<float, exact_format<float>::sum, Item> {
  using type = std::conditional_t<is_bfloat16<Item>, warp_windows, warp_bins<>>;
};
template <class Item>
struct exact_long_digits<double, exact_format<double>::sum, Item> {
  using type = warp_rows;
};

/// After so many chunks a warp has to empty its Digits; 0: never.
template <class Digits>
inline constexpr int chunks_to_empty = 0;
template <class Digits>
  requires requires { Digits::chunks_to_empty; }
inline constexpr int chunks_to_empty<Digits> = Digits::chunks_to_empty;

/// How a warp reads a chunk of vt items a lane, and how many chunks a turn has at most.
template <class Source, int Vt>
struct exact_shape {
  static constexpr int vt = Vt;
  static constexpr int width = packet_width_of<vt>(static_cast<const Source*>(nullptr));
  static constexpr int rows = vt / width;
  static constexpr int most_of_turn = most_chunks_of_turn(warp_size * vt, item_bytes<Source>);
};

/// Whether Digits leave warps behind others, so that chunks are dealt out as warps ask for them.
template <class Digits>
inline constexpr bool in_turns = false;
template <class Digits>
  requires requires { Digits::in_turns; }
inline constexpr bool in_turns<Digits> = Digits::in_turns;

/// The chunks of a warp, one after the other: every `warps`th one.
class chunk_strides {
 public:
  using index = std::int64_t;

  template <int Warps>
  __device__ __forceinline__ chunk_strides(std::integral_constant<int, Warps>, int warp, int, int,
                                           int*, int)
      : step_(index{gridDim.x} * Warps), first_(index{blockIdx.x} * Warps + warp) {}

  __device__ __forceinline__ index first() const { return first_; }
  /// What follows chunk c.
  __device__ __forceinline__ index after(index c) const { return c + step_; }
  /// Goes on to it. All lanes of the warp.
  __device__ __forceinline__ index pass(index c, int) { return c + step_; }

 private:
  index step_;
  index first_;
};

/// The same. In short ranges it takes every `warps`th one. Long ones are cut into ranges, one for
/// the blocks of each counter, and dealt out in turns of neighbouring chunks: a warp has a first
/// turn, and asks for the next one while it adds. Turns get smaller towards the end. So the warps
/// of a range end together, whichever of them is slow.
///
///     range      [ warp 0 ][ warp 1 ]...[ who asks first ][ who asks next ] ... [ ][ ][ ]
///
template <int MostChunks>
class chunk_turns {
 public:
  using index = int;

  /// First turns have `first_turn` chunks; 0: there are none. All lanes of the warp, here and
  /// below.
  template <int Warps>
  __device__ __forceinline__ chunk_turns(std::integral_constant<int, Warps>, int warp, int chunks,
                                         int first_turn, int* asked, int lane)
      : first_turn_(first_turn) {
    const auto block = static_cast<int>(blockIdx.x);
    const auto blocks = static_cast<int>(gridDim.x);
    if (first_turn == 0) {
      first_ = block * Warps + warp;
      left_or_step_ = blocks * Warps;
      chunk_ = first_ + left_or_step_;
      return;
    }
    const int counter = block % chunk_counters;
    const int each = blocks / chunk_counters;
    const int before = counter * each + min(counter, blocks % chunk_counters);
    warps_ = (each + (counter < blocks % chunk_counters ? 1 : 0)) * Warps;
    const auto begin = static_cast<int>(std::int64_t{chunks} * before / blocks);
    end_ = static_cast<int>(std::int64_t{chunks} * (before + warps_ / Warps) / blocks);
    asked_ = asked + counter;
    dealt_ = begin + warps_ * first_turn;
    first_ = begin + (block / chunk_counters * Warps + warp) * first_turn;
    chunk_ = first_;
    left_or_step_ = first_turn;
    ask(lane);
    advance(lane);
  }

  __device__ __forceinline__ index first() const { return first_; }
  __device__ __forceinline__ index after(index) const { return chunk_; }
  __device__ __forceinline__ index pass(index, int lane) {
    const index next = chunk_;
    advance(lane);
    return next;
  }

 private:
  // To the next chunk, which may be beyond the last one.
  __device__ __forceinline__ void advance(int lane) {
    if (first_turn_ == 0) {
      chunk_ += left_or_step_;
    } else if (--left_or_step_ > 0) {
      ++chunk_;
    } else {
      chunk_ = dealt_ + __shfl_sync(full_warp, next_, 0);
      left_or_step_ = min(next_size_, end_ - chunk_);
      if (left_or_step_ <= 0) {
        chunk_ = beyond_all;
        left_or_step_ = 1 << 30;
        return;
      }
      ask(lane);
    }
  }

  static constexpr int beyond_all = 1 << 30;

  __device__ __forceinline__ void ask(int lane) {
    constexpr int least = MostChunks < 4 ? 1 : MostChunks / 4;
    next_size_ = detail::bounded((end_ - chunk_) / (4 * warps_), least, MostChunks);
    if (lane == 0) next_ = atomicAdd(asked_, next_size_);
  }

  int first_ = 0;
  int chunk_ = 0;  // one ahead
  int first_turn_ = 0;
  int left_or_step_ = 0;  // in this turn, or to the next chunk
  int* asked_ = nullptr;  // chunks that were asked for
  int dealt_ = 0;         // all before it belong to first turns
  int end_ = 0;
  int warps_ = 0;
  int next_ = 0;
  int next_size_ = 0;
};

/// Loads a chunk of which not all items need exist; of the lane's row r `available`(r) do, at
/// `first`(r). -0, which is nothing to a sum, stands for the others.
template <int Rows, int Width, class Source, class Summands, int N, class First, class Available>
__device__ __forceinline__ void load_cut_chunk(registers<typename Summands::accumulator, N>& items,
                                               const Source& source, const Summands& summands,
                                               const First& first, const Available& available) {
  using number = typename Summands::accumulator;
  lane_rows<Source, Rows, Width> loaded;
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    const int here = available(r);
    loaded.load_part(source, first(r), r, here);
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      items.put(r * Width + j, j < here ? loaded.lift(summands, r, j) : -number{0});
    }
  }
}

/// The exact sum of n >= 1 elements. `Summands` lifts an element to the float or double that a
/// warp's Digits add. More than one block need `sums`.
template <class Build, class Digits, class Source, class Reducer, class Summands, class Init,
          class Out>
__global__ void __launch_bounds__(Digits::policy.nt, Digits::min_resident_blocks)
    exact_kernel(Source source, Reducer reducer, Summands summands, Init init, Out out,
                 std::int64_t n, digit_sums<Digits::words>* sums, int first_turn) {
  using number = typename Summands::accumulator;
  using state_type = typename exact_sum_of<Reducer>::state;
  constexpr tile_policy policy = Digits::policy;
  constexpr int width = exact_shape<Source, policy.vt>::width;
  constexpr int rows = exact_shape<Source, policy.vt>::rows;
  constexpr int chunk = warp_size * policy.vt;
  constexpr int num_warps = policy.nt / warp_size;
  using rows_type = lane_rows<Source, rows, width>;
  __shared__ Digits digits[num_warps];
  __shared__ wide_places<state_type> total;
  __shared__ bool completed;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  Digits& mine = digits[warp];
  mine.clear(lane);
  if (warp == 0) total.clear(lane);
  cuda::wait_for_previous_launch();

  using turns_type =
      std::conditional_t<in_turns<Digits>,
                         chunk_turns<exact_shape<Source, policy.vt>::most_of_turn>, chunk_strides>;
  using index = typename turns_type::index;  // fewer than 2^31 chunks: most_exact_items
  const std::int64_t overread = rows_type::overreads(source) ? width : 0;
  const auto whole = static_cast<index>(n < overread ? 0 : (n - overread) / chunk);
  turns_type turns(std::integral_constant<int, num_warps>{}, warp,
                   static_cast<int>((n + chunk - 1) / chunk), first_turn,
                   first_turn > 0 ? sums->asked : nullptr, lane);
  index c = turns.first();
  const auto lane_first = [&](index i) { return std::int64_t{i} * chunk + lane * width; };
  [[maybe_unused]] int room = chunks_to_empty<Digits>;
  const auto added_one = [&] {
    if constexpr (chunks_to_empty<Digits> > 0) {
      if (--room == 0) {
        mine.empty(lane);
        room = chunks_to_empty<Digits>;
      }
    }
  };
  // Adds whole chunks from c on, as long as nothing in them is rare; returns the first that it did
  // not add.
  const auto whole_chunks = [&](index c) {
    if (c >= whole) return c;
    rows_type next;
    next.load_rows(source, lane_first(c));
    bool done = true;
#pragma unroll 1
    do {
      registers<number, policy.vt> items;
#pragma unroll
      for (int i = 0; i < policy.vt; ++i) items.put(i, next.lift(summands, i / width, i % width));
      // While these are cut.
      if (turns.after(c) < whole) next.load_rows(source, lane_first(turns.after(c)));
      done = mine.add(items, lane);
      if (done) {
        added_one();
        c = turns.pass(c, lane);
      }
    } while (done && c < whole);
    return c;
  };
  // Then one chunk with care. Apart, because what is rare must not take the registers of the next
  // chunk's items.
#pragma unroll 1
  while (std::int64_t{c} * chunk < n) {
    if (overread == 0) {
      // Then the compiler leaves out the code for misaligned memory.
      const bool aligned = !rows_type::overreads(source);
      __builtin_assume(aligned);
      c = whole_chunks(c);
    } else {
      c = whole_chunks(c);
    }
    if (std::int64_t{c} * chunk >= n) break;
    registers<number, policy.vt> items;
    const auto row_first = [&](int r) { return lane_first(c) + r * warp_size * width; };
    cuda::load_cut_chunk<rows, width>(items, source, summands, row_first, [&](int r) {
      return static_cast<int>(
          detail::bounded(n - row_first(r), std::int64_t{0}, std::int64_t{width}));
    });
    while (!mine.add(items, lane)) mine.take_rare(items, lane);
    added_one();
    c = turns.pass(c, lane);
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
    if (threadIdx.x < chunk_counters) sums->asked[threadIdx.x] = 0;
    __syncthreads();
  }
  if (warp != 0) return;
  for (int s = lane; s < Digits::words; s += warp_size) {
    const long long sum = digits[0].word[s];
    if (sum != 0) total.add(sum, Digits::exponent(s));
  }
  wide_by_warp<state_type> whole_sum(total, lane);
  const std::uint64_t marks = digits[0].marks;
  if constexpr (std::is_same_v<Init, no_init>) {
    const exact_window window = whole_sum.window(marks);
    if (lane == 0) cuda::write(out, reducer.result_of_exact_sum(window, n));
  } else if (lane == 0) {
    state_type state{};
    for (int i = 0; i < state_type::words; ++i) state.sum.word[i] = total.word(i);
    state.marks = marks;
    cuda::write(out, detail::finish(reducer, init, reducer.of_exact_sum(state, n)));
  }
}

}  // namespace tilefold::detail::cuda
