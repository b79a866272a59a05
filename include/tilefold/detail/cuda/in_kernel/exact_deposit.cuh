// SPDX-License-Identifier: Apache-2.0
//
// Atomic addition to an exact state in balanced words, from any number of threads. One atomic
// addition adds to a word; from its old value follows whether there is a carry, which is added to
// the next word in the same way:
//
//     item       0 ... 0 | . . x x | x x . . | 0 ... 0      two words at most, often one
//     state      w5 | w4 | w3 | w2 | w1 | w0
//                          <-   <-                          carries, one word at a time
//
// At any time, words and carries under way are together the sum of all additions. So when no carry
// is under way, the words are the sum, in the form in which one thread would have left it. No room
// for carries is needed, and there may be as many additions as the state itself can take.
//
// Lanes of a warp that add to one state, to bits near each other, first add among themselves:
//
//     bit        26 w + s, s < 26: lanes of one w make one sum
//     item       mantissa 2^s in pieces of 26 bits, with its sign
//     pieces     their sums over 32 lanes fit 32 bits: one instruction each
#pragma once

#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/exact/balanced_state.hpp>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

TILEFOLD_D std::uint64_t add_to_word(std::uint64_t* word, std::uint64_t x) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(x));
}

/// Notes that `marks` were seen. A load comes first, because most often the marks are there.
TILEFOLD_D void note(std::uint64_t& seen_before, std::uint64_t marks) {
  const std::uint64_t before = *const_cast<const volatile std::uint64_t*>(&seen_before);
  if ((before & marks) != marks) {
    atomicOr(reinterpret_cast<unsigned long long*>(&seen_before),
             static_cast<unsigned long long>(marks));
  }
}

/// Adds mantissa * 2^bit to a state, or subtracts it.
///
/// If the first word was 0 before, notes that there was an item. That is enough: a word that is not
/// 0 was so from the beginning, in a state that notes it, or its first deposit has found a 0.
template <class State>
TILEFOLD_D void add_atomically(State& state, std::uint64_t mantissa, int bit, bool negative) {
  std::uint64_t met = 1;
  const int first = bit / 64;
  detail::add_to_balanced<State::words>(mantissa, bit, negative, [&](int i, std::uint64_t change) {
    const std::uint64_t before = cuda::add_to_word(&state.sum.word[i], change);
    if (i == first) met = before;
    return before;
  });
  if (met == 0) cuda::note(state.marks, seen::other);
}

/// The sum over the lanes of `peers`, all here, of mantissa * 2^shift with its sign.
template <int Least, class Item>
struct peer_sum {
  static constexpr int piece_bits = 26;
  static constexpr int digits = std::same_as<Item, float>   ? 24
                                : std::floating_point<Item> ? 53
                                                            : 8 * static_cast<int>(sizeof(Item));
  // An integer's lowest bit is always worth 1.
  static constexpr int most_shift = std::integral<Item> ? -Least % piece_bits : piece_bits - 1;
  static constexpr int most_bits = digits + most_shift;
  static constexpr int pieces = most_bits <= 2 * piece_bits ? 2 : 3;
  static_assert(most_bits <= 3 * piece_bits);

  // sum + above * 2^(2 piece_bits)
  std::int64_t sum;
  std::int64_t above;

#if __CUDA_ARCH__ >= 800
  TILEFOLD_D static peer_sum of(unsigned peers, std::uint64_t mantissa, int shift, bool negative) {
    constexpr std::uint64_t mask = (std::uint64_t{1} << piece_bits) - 1;
    const std::uint64_t low = mantissa << shift;
    const auto sum_of = [&](std::uint64_t piece) {
      const int x = static_cast<int>(piece & mask);
      return static_cast<std::int64_t>(__reduce_add_sync(peers, negative ? -x : x));
    };
    const std::int64_t sum = sum_of(low) + sum_of(low >> piece_bits) * (1ll << piece_bits);
    if constexpr (pieces == 2) return {sum, 0};
    const std::uint64_t high = mantissa >> 1 >> (63 - shift);
    return {sum, sum_of(low >> (2 * piece_bits) | high << (64 - 2 * piece_bits))};
  }
#endif
};

template <class State>
TILEFOLD_D void add_signed(State& state, std::int64_t x, int bit) {
  const auto bits = static_cast<std::uint64_t>(x);
  cuda::add_atomically(state, x < 0 ? std::uint64_t{0} - bits : bits, bit, x < 0);
}

/// So many lanes of a warp that add to neighbouring bits of one state make one sum first.
inline constexpr int least_peers = 4;

/// Adds one item to a state. Threads may do so in any number and order, at any place.
template <class State, class Item>
TILEFOLD_D void deposit_into(State& state, Item item) {
  const exact_addend x = detail::addend_of<State::least>(item);
  if (x.marks != 0) {
    cuda::note(state.marks, x.marks);
    return;
  }
#if __CUDA_ARCH__ >= 800
  using sum = peer_sum<State::least, Item>;
  // The active lanes. Any set of them is right.
  unsigned here = __activemask();
  const int window = x.bit / sum::piece_bits;
  const auto place = reinterpret_cast<std::uint64_t>(&state) << 7 | static_cast<unsigned>(window);
  static_assert(64 * State::words / sum::piece_bits < 128);
  while (true) {
    const int leader = __ffs(static_cast<int>(here)) - 1;
    const bool with_leader = place == __shfl_sync(here, place, leader);
    const unsigned peers = __ballot_sync(here, with_leader);
    if (__popc(peers) < least_peers) break;
    if (with_leader) {
      const int low_bit = window * sum::piece_bits;
      const sum all = sum::of(peers, x.mantissa, x.bit - low_bit, x.negative);
      if (cuda::opaque_lane() == leader) {
        cuda::add_signed(state, all.sum, low_bit);
        if (all.above != 0) cuda::add_signed(state, all.above, low_bit + 2 * sum::piece_bits);
      }
      return;
    }
    here &= ~peers;
  }
#endif
  cuda::add_atomically(state, x.mantissa, x.bit, x.negative);
}

}  // namespace tilefold::detail::cuda
