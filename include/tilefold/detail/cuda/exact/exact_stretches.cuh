// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of several trees in the lanes of a warp, whose stretches of few items lie in registers
// (lane_plan.cuh). All of them are cut against the anchors of the warp's largest item
// (exact_digits.cuh), and digits of a level meet between the lanes of a tree as integers:
//
//     lane           0        1       2        3       4      ...
//     stretches        tree 0   tree 0   tree 1   tree 1  tree 1
//     level 5       d  <---- d        d <---- d       d        a lane's digits; to the first of
//     level 6       d  <---- d        d <---- d <---- d        each tree
//     number      (level 5) 2^step + level 6, of three words
#pragma once

#include <cstdint>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/exact/exact_digits.cuh>
#include <tilefold/detail/exact/exact_state.hpp>

namespace tilefold::detail::cuda {

/// The sum of the lanes of a tree that has `stretches` stretches, of which this lane has stretch
/// `stretch`, in the lane of the first. `most_stretches`: of any tree of the warp.
template <class Value, class Plus>
__device__ __forceinline__ Value sum_of_stretches(Value value, int stretch, int stretches,
                                                  int most_stretches, const Plus& plus) {
#pragma unroll 1
  for (int distance = 1; distance < most_stretches; distance *= 2) {
    const Value received = cuda::shuffle_down<warp_size>(value, distance, full_warp);
    if (stretches - stretch > distance) value = plus(value, received);
  }
  return value;
}

/// A signed number of three words, the lowest first.
struct three_words {
  std::uint64_t low = 0;
  std::uint64_t middle = 0;
  std::uint64_t high = 0;

  /// This 2^Bits + x.
  template <int Bits>
  __device__ __forceinline__ void push(long long x) {
    static_assert(0 < Bits && Bits < 64);
    high = high << Bits | middle >> (64 - Bits);
    middle = middle << Bits | low >> (64 - Bits);
    low <<= Bits;
    const auto sign = static_cast<std::uint64_t>(x >> 63);
    low += static_cast<std::uint64_t>(x);
    const std::uint64_t carry = low < static_cast<std::uint64_t>(x) ? 1 : 0;
    const std::uint64_t with_carry = middle + carry;
    const std::uint64_t carries = with_carry < carry ? 1 : 0;
    middle = with_carry + sign;
    high += sign + carries + (middle < with_carry ? 1 : 0);
  }

  /// Adds this 2^exponent to a state, of whose unit it is a multiple.
  template <class State>
  __device__ __forceinline__ void add_to(State& state, int exponent) const {
    const std::uint64_t sign = static_cast<std::uint64_t>(static_cast<long long>(high) >> 63);
    // Shifted into four words, and the first word of the state that they meet.
    int bit = exponent - State::least;
    std::uint64_t shifted[4];
    if (bit < 0) {
      shifted[0] = low >> -bit | middle << (64 + bit);
      shifted[1] = middle >> -bit | high << (64 + bit);
      shifted[2] = high >> -bit | sign << (64 + bit);
      shifted[3] = sign;
      bit = 0;
    } else {
      const int shift = bit % 64;
      shifted[0] = low << shift;
      shifted[1] = middle << shift | low >> 1 >> (63 - shift);
      shifted[2] = high << shift | middle >> 1 >> (63 - shift);
      shifted[3] = sign << shift | high >> 1 >> (63 - shift);
    }
    const int first = bit / 64;
    std::uint64_t carry = 0;
#pragma unroll State::words <= 12 ? State::words : 1
    for (int i = 0; i < State::words; ++i) {
      const int at = i - first;
      const std::uint64_t mine = at < 0    ? 0
                                 : at == 0 ? shifted[0]
                                 : at == 1 ? shifted[1]
                                 : at == 2 ? shifted[2]
                                 : at == 3 ? shifted[3]
                                           : sign;
      const std::uint64_t with_carry = state.sum.word[i] + carry;
      carry = with_carry < carry ? 1 : 0;
      state.sum.word[i] = with_carry + mine;
      carry += state.sum.word[i] < with_carry ? 1 : 0;
    }
  }
};

/// Adds the items of a tree to the state of the lane that has its first stretch. Items that there
/// are not are -0. False, and nothing is done, if an item of the warp is huge or not finite.
template <class Number, int N, class State>
__device__ __forceinline__ bool add_stretches(registers<Number, N>& items, int stretch,
                                              int stretches, int most_stretches, State& state) {
  using digits_type = warp_digits<Number>;
  using anchor = anchors<Number>;
  using bits_type = typename anchor::bits_type;
  constexpr bits_type sign = bits_type{1} << (8 * sizeof(Number) - 1);
  // Levels that three words hold, of digits of 512 items.
  constexpr int most_pushed = 1 + (192 - 1 - anchor::fraction - 10) / anchor::step;
  const auto bits_of = [](Number x) { return __builtin_bit_cast(bits_type, x); };
  const auto plus = [](auto a, auto b) { return a + b; };

  const int largest = digits_type::largest_exponent(items);
  if (largest > digits_type::most_exponent) return false;
  bool other = false;
#pragma unroll
  for (int i = 0; i < N; ++i) other = other || bits_of(items[i]) != sign;
  const int others =
      cuda::sum_of_stretches(other ? 1 : 0, stretch, stretches, most_stretches, plus);
  const std::uint64_t marks = others != 0 ? seen::other : seen::minus_zero;
  if (largest < 0) {
    // Only zeros; but the largest float passes over NaNs.
    bits_type any = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) any |= bits_of(items[i]) & ~sign;
    if (__any_sync(full_warp, any != 0)) return false;
    state.marks |= marks;
    return true;
  }

  State sum = State::nothing();
  three_words pushed;
  int num_pushed = 0;
  int level = detail::smaller((anchor::top - 2 + anchor::bias - largest) / anchor::step,
                              anchor::levels - 1);
  const auto exponent = [](int l) { return anchor::top - anchor::fraction - anchor::step * l; };
  bool more;
#pragma unroll 1
  do {
    bits_type left;
    const long long mine = cuda::cut_at(anchor::top - anchor::step * level, items, left);
    if (num_pushed == most_pushed) {
      pushed.add_to(sum, exponent(level - 1));
      pushed = three_words{};
      num_pushed = 0;
    }
    pushed.template push<anchor::step>(
        cuda::sum_of_stretches(mine, stretch, stretches, most_stretches, plus));
    ++num_pushed;
    ++level;
    more = __any_sync(full_warp, (left & ~sign) != 0);
  } while (more && level < anchor::levels);
  pushed.add_to(sum, exponent(level - 1));
  if (more) {
    if constexpr (anchor::has_rest) {
      sum.add_multiple(
          cuda::sum_of_stretches(cuda::rest_of(items), stretch, stretches, most_stretches, plus),
          1 - anchor::bias - anchor::fraction);
    } else {
      return false;  // of all numbers nothing is left
    }
  }
  sum.marks = marks;
  state.add(sum);
  return true;
}

}  // namespace tilefold::detail::cuda
