// SPDX-License-Identifier: Apache-2.0
//
// An integer of many words, added up and brought into its one form by a warp: a thread alone takes
// microseconds for the 34 words of a sum of doubles.
//
//     add         pieces of 16 bits by integer atomics; places may hold more or less than 16 bits
//     carry       each lane within its own places, then one carry of small size to the next lane;
//                 what is left are carries of 1 and -1. Neighbouring lanes that all hand on what
//                 they get is found in one addition of two ballots.
//     window      the words below the highest that is not zero
#pragma once

#include <cstdint>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

/// The places of an exact state's sum, in shared memory: 16 bits a place, the lowest first.
template <class State>
struct wide_places {
  // Some more than there are bits, so that every lane has as many.
  static constexpr int of_lane = (4 * State::words + 5 + warp_size - 1) / warp_size;
  static constexpr int count = of_lane * warp_size;

  alignas(8) int place[count];

  __device__ __forceinline__ void clear(int lane) {
    for (int i = lane; i < count; i += warp_size) place[i] = 0;
    __syncwarp();
  }

  /// Adds x * 2^exponent, a multiple of the unit. By any lane.
  __device__ __forceinline__ void add(long long x, int exponent) {
#pragma unroll
    for (int i = 0; i < pieces; ++i) add_piece(x, exponent, i);
  }

  /// Adds piece i of the `pieces` of x * 2^exponent; the other pieces may be other lanes'.
  static constexpr int pieces = 5;
  __device__ __forceinline__ void add_piece(long long x, int exponent, int i) {
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
  __device__ __forceinline__ std::uint64_t word(int i) const {
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
  __device__ __forceinline__ wide_by_warp(places& all, int lane) : all_(all), lane_(lane) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < mine; ++i) my_[i] = all_.place[lane * mine + i];
    const int first = from_below(carry_through(0));
    const int small = from_below(carry_through(first));
    // Every lane's places are in order; to come is 1, 0 or -1 from below.
    const bool overflows = carry_through(small > 0 ? 1 : 0) != 0;
    carry_through(handed_on(overflows, all_are(full_place)) ? 1 : 0);
    const bool borrows = carry_through(small < 0 ? -1 : 0) != 0;
    carry_through(handed_on(borrows, all_are(0)) ? -1 : 0);
    store();
  }

  /// The sum as a window. Afterwards the words are the sum's size.
  __device__ __forceinline__ exact_window window(std::uint64_t marks) {
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
  // Brings my places in order, with what comes from below; returns what goes to the next lane.
  __device__ __forceinline__ int carry_through(int carry) {
#pragma unroll
    for (int i = 0; i < mine; ++i) {
      carry += my_[i];
      my_[i] = carry & full_place;
      carry >>= 16;
    }
    return carry;
  }
  __device__ __forceinline__ int from_below(int carry) const {
    const int below = __shfl_up_sync(full_warp, carry, 1);
    return lane_ == 0 ? 0 : below;
  }
  __device__ __forceinline__ bool all_are(int value) const {
    bool all = true;
#pragma unroll
    for (int i = 0; i < mine; ++i) all = all && my_[i] == value;
    return all;
  }
  // Whether a carry reaches this lane, where some lanes make one and others hand it on.
  __device__ __forceinline__ bool handed_on(bool makes, bool hands_on) const {
    const unsigned made = __ballot_sync(full_warp, makes) << 1;
    const unsigned on = __ballot_sync(full_warp, hands_on);
    return (((on + made) ^ on) >> lane_ & 1) != 0;
  }
  // Places as words of 16 bits, in the same memory.
  __device__ __forceinline__ void store() {
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

}  // namespace tilefold::detail::cuda
