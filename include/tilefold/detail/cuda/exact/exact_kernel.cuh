// SPDX-License-Identifier: Apache-2.0
//
// Exact sums at the speed of memory. All sums are integers, so no order enters:
//
//     warp        chunks of 32 * vt items; the next one loads while one is added to the warp's own
//                 sums in shared memory (exact_digits.cuh; of long ranges of floats exact_bins.cuh,
//                 of doubles exact_integer_bins.cuh)
//     block       adds up the sums of its warps
//     launch      integer atomics; a warp of the last block to arrive makes one number of the sums,
//                 and a thread rounds it
#pragma once

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/exact/exact_bins.cuh>
#include <tilefold/detail/cuda/exact/exact_digits.cuh>
#include <tilefold/detail/cuda/exact/exact_integer_bins.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

// An integer of many words, added up and brought into its one form by a warp: a thread alone takes
// microseconds for the 34 words of a sum of doubles.
//
//     add         pieces of 16 bits by integer atomics; places may hold more or less than 16 bits
//     carry       each lane within its own places, then twice to the next lane. Carries of 1 and -1
//                 are left; handed_on() finds how far they ripple in one addition of two ballots
//     window      the words below the highest that is not zero

/// The places of an exact state's sum, in shared memory: 16 bits a place, the lowest first.
template <class State>
struct wide_places {
  // Rounded up, so that every lane has the same number.
  static constexpr int of_lane = (4 * State::words + 5 + warp_size - 1) / warp_size;
  static constexpr int count = of_lane * warp_size;

  alignas(8) int place[count];

  TILEFOLD_D void clear(int lane) {
    for (int i = lane; i < count; i += warp_size) place[i] = 0;
    __syncwarp();
  }

  /// Adds x * 2^exponent, a multiple of the unit. By any lane.
  TILEFOLD_D void add(long long x, int exponent) {
#pragma unroll
    for (int i = 0; i < pieces; ++i) add_piece(x, exponent, i);
  }

  /// Adds piece i of the `pieces` of x * 2^exponent; the other pieces may be other lanes'.
  static constexpr int pieces = 5;
  TILEFOLD_D void add_piece(long long x, int exponent, int i) {
    int bit = exponent - State::least;
    if (bit < 0) {
      x >>= (min)(-bit, 63);
      bit = 0;
    }
    const int shift = bit % 16;
    const auto low = static_cast<unsigned long long>(x) << shift;
    const auto high = static_cast<int>(x >> 32 >> (32 - shift));  // 16 bits and the sign
    const int piece = i < 4 ? static_cast<int>(low >> (16 * i)) & 0xffff : high;
    if (piece != 0 && bit / 16 + i < count) atomicAdd(place + bit / 16 + i, piece);
  }

  /// Word i of 64 bits, when a warp has stored words.
  TILEFOLD_D std::uint64_t word(int i) const {
    return reinterpret_cast<const std::uint64_t*>(place)[i];
  }
};

/// Makes one number of places. All calls by all lanes of one warp.
template <class State>
class wide_by_warp {
  using places = wide_places<State>;
  static constexpr int mine = places::of_lane;
  static constexpr int full_place = 0xffff;

 public:
  /// After it, words are the sum in two's complement.
  TILEFOLD_D wide_by_warp(places& all, int lane) : all_(all), lane_(lane) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < mine; ++i) my_[i] = all_.place[lane * mine + i];
    const int first = from_below(carry_through(0));
    const int small = from_below(carry_through(first));
    // Every lane's places are in order; a carry of 1, 0 or -1 from below is still to come.
    const bool overflows = carry_through(small > 0 ? 1 : 0) != 0;
    carry_through(handed_on(overflows, all_are(full_place)) ? 1 : 0);
    const bool borrows = carry_through(small < 0 ? -1 : 0) != 0;
    carry_through(handed_on(borrows, all_are(0)) ? -1 : 0);
    store();
  }

  /// The sum as a window. Afterwards the words are the sum's size.
  TILEFOLD_D exact_window window(std::uint64_t marks) {
    const bool negative = __shfl_sync(full_warp, my_[mine - 1], warp_size - 1) >> 15 != 0;
    if (negative) {
      const unsigned any = __ballot_sync(full_warp, !all_are(0));
#pragma unroll
      for (int i = 0; i < mine; ++i) my_[i] = full_place - my_[i];
      // The carry of + 1 goes up to the lowest lane that held anything.
      carry_through((any & ((1u << lane_) - 1)) == 0 ? 1 : 0);
      store();
    }
    constexpr int rounds = (State::words + warp_size - 1) / warp_size;
    unsigned any[rounds];
    int top = 0;
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const int i = r * warp_size + lane_;
      any[r] = __ballot_sync(full_warp, i < State::words && all_.word(i) != 0);
      if (any[r] != 0) top = r * warp_size + 31 - __clz(static_cast<int>(any[r]));
    }
    const int first = detail::larger(top + 1 - exact_window::words, 0);
    bool mine_is_below = false;
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      mine_is_below =
          mine_is_below || (r * warp_size + lane_ < first && (any[r] >> lane_ & 1) != 0);
    }
    const bool more = __any_sync(full_warp, mine_is_below) != 0;
    exact_window result{};
#pragma unroll
    for (int i = 0; i < exact_window::words; ++i) {
      if (first + i < State::words) result.size.word[i] = all_.word(first + i);
    }
    result.size.word[0] |= more ? 1 : 0;
    result.least = State::least + 64 * first;
    result.negative = negative;
    result.marks = marks;
    return result;
  }

 private:
  // Brings my places in order, with the carry from below; returns the carry to the next lane.
  TILEFOLD_D int carry_through(int carry) {
#pragma unroll
    for (int i = 0; i < mine; ++i) {
      carry += my_[i];
      my_[i] = carry & full_place;
      carry >>= 16;
    }
    return carry;
  }
  TILEFOLD_D int from_below(int carry) const {
    const int below = __shfl_up_sync(full_warp, carry, 1);
    return lane_ == 0 ? 0 : below;
  }
  TILEFOLD_D bool all_are(int value) const {
    bool all = true;
#pragma unroll
    for (int i = 0; i < mine; ++i) all = all && my_[i] == value;
    return all;
  }
  // Whether a carry reaches this lane, where some lanes make one and others hand it on. Bit l of
  // `made`: lane l - 1 makes a carry. The addition ripples it through the ones of `on`, and lanes
  // that it reaches are the bits that the addition changes.
  TILEFOLD_D bool handed_on(bool makes, bool hands_on) const {
    const unsigned made = __ballot_sync(full_warp, makes) << 1;
    const unsigned on = __ballot_sync(full_warp, hands_on);
    return (((on + made) ^ on) >> lane_ & 1) != 0;
  }
  // Places as words of 16 bits, in the same memory.
  TILEFOLD_D void store() {
    __syncwarp();
    auto* const words = reinterpret_cast<unsigned short*>(all_.place);
#pragma unroll
    for (int i = 0; i < mine; ++i) {
      words[lane_ * mine + i] = static_cast<unsigned short>(my_[i]);
    }
    __syncwarp();
  }

  places& all_;
  int lane_;
  int my_[mine];
};

/// The sums that all blocks of a launch add to; zero between launches.
template <int Words>
struct digit_sums {
  unsigned long long word[Words];
  unsigned marks;
  unsigned arrivals;
};

/// The part of a reducer that makes an accumulator of an exact sum.
template <class Reducer>
struct exact_sum_of;
template <class R, class Lift, class... Values>
struct exact_sum_of<closed_reducer<bound_reducer<R, Lift, Values...>>>
    : ways<R>::template holder<typename bound_reducer<R, Lift, Values...>::accumulator> {};

/// The Digits of short ranges, where items are `Number` and sums `State`. Halves are integers.
template <class Number, class State>
using digits_for = std::conditional_t<std::is_same_v<Number, float> &&
                                          std::is_same_v<State, exact_format<half>::sum>,
                                      warp_integers, warp_digits<Number>>;

/// The Digits of long ranges, of numbers that are one `Item` each, or of products.
template <class Number, class State, class Item>
using long_digits_for = std::conditional_t<
    !std::is_same_v<State, typename exact_format<Number>::sum>, warp_products,
    std::conditional_t<std::is_same_v<Number, double>, warp_integer_bins,
                       std::conditional_t<is_bfloat16<Item>, warp_windows, warp_bins<>>>>;

/// Writes the sum of n elements that `places` and `marks` hold; by one warp.
template <class State, class Reducer, class Init, class Out, class Count>
TILEFOLD_D void write_sum_of_places(wide_places<State>& places, std::uint64_t marks,
                                    const Reducer& reducer, const Init& init, const Out& out,
                                    Count n, int lane) {
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
/// warp's Digits add. Several blocks need `sums`.
template <class Build, class Digits, class Source, class Reducer, class Summands, class Init,
          class Out>
__global__ void __launch_bounds__(Digits::policy.nt, Digits::min_resident_blocks)
    exact_kernel(Source source, Reducer reducer, Summands summands, Init init, Out out,
                 std::int64_t n, digit_sums<Digits::words>* sums) {
  using number = typename Summands::accumulator;
  using state_type = typename exact_sum_of<Reducer>::state;
  constexpr tile_policy policy = Digits::policy;
  constexpr int width = packet_width_of<policy.vt>(static_cast<const Source*>(nullptr));
  constexpr int stripes = policy.vt / width;
  constexpr int chunk_items = warp_size * policy.vt;
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
  const std::int64_t whole = n < overread ? 0 : (n - overread) / chunk_items;
  std::int64_t c = std::int64_t{blockIdx.x} * num_warps + warp;
  const auto lane_first = [&](std::int64_t i) { return i * chunk_items + lane * width; };
  [[maybe_unused]] int room = Digits::chunks_to_empty;
  const auto added_one = [&] {
    if constexpr (Digits::chunks_to_empty > 0) {
      if (--room == 0) {
        mine.empty(lane);
        room = Digits::chunks_to_empty;
      }
    }
  };
  // Adds whole chunks from `at` on, as long as add() takes them. Returns the first one not added.
  const auto add_whole_chunks = [&](std::int64_t at) {
    if (at >= whole) return at;
    stripes_type next;
    next.load_all(source, lane_first(at));
    bool done = true;
#pragma unroll 1
    do {
      registers<number, policy.vt> items;
#pragma unroll
      for (int i = 0; i < policy.vt; ++i) items.put(i, next.lift(summands, i / width, i % width));
      if (at + step < whole) next.load_all(source, lane_first(at + step));  // while these are added
      done = mine.add(items, lane);
      if (done) {
        added_one();
        at += step;
      }
    } while (done && at < whole);
    return at;
  };
  // Between whole chunks, one chunk that is cut, or that add() refuses at first. Its code stands
  // outside of add_whole_chunks, where it would take the registers of the next chunk.
#pragma unroll 1
  while (c * chunk_items < n) {
    if (overread == 0) {
      // So the compiler leaves out the code for misaligned memory.
      const bool aligned = !stripes_type::overreads(source);
      __builtin_assume(aligned);
      c = add_whole_chunks(c);
    } else {
      c = add_whole_chunks(c);
    }
    if (c * chunk_items >= n) break;
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
        // -0 changes no sum.
        items.put(r * width + j, j < available ? loaded.lift(summands, r, j) : -number{0});
      }
    }
    while (!mine.add(items, lane)) mine.take_rare(items, lane);
    added_one();
    c += step;
  }
  if constexpr (Digits::chunks_to_empty > 0) mine.empty(lane);

  __syncthreads();
  // The block's sums, in place of its first warp's.
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
    // All other blocks have arrived. The sums are zero for the next launch.
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
