// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of trees that lanes of a warp hold between them, in a few words instead of a whole
// state. Items are cut as in exact_digits.cuh, but against an anchor that fits them: just above the
// largest item of the warp, or of the tree's first stripe. So two digits hold ordinary data:
//
//     anchor     top                                              bits below the largest item
//     float      [ 23 bits | 23 bits ] [ 23 bits | 23 bits ]
//     double     [ 52 bits ] [ 52 bits ]  [ 52 bits ]
//     integer    always; so long as       only where something is left
//                nothing is left
//
// Integers have 64 bits, in registers, and are sums of all stripes of the tree; lanes meet once, in
// the end. Where items span more than that, are huge or not finite, the sum is made in another way
// (exact_stretches.cuh).
#pragma once

#include <cstdint>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/exact/exact_digits.cuh>
#include <tilefold/detail/cuda/exact/exact_stretches.cuh>
#include <tilefold/detail/exact/exact_state.hpp>
#include <tilefold/detail/exact/wide_integer.hpp>

namespace tilefold::detail::cuda {

/// How numbers are cut into integers, the highest first.
template <class Number>
struct narrow_cuts;
template <>
struct narrow_cuts<float> {
  static constexpr int levels_of_integer = 2;
  static constexpr int always = 1;  // integers that every item is cut into
};
template <>
struct narrow_cuts<double> {
  static constexpr int levels_of_integer = 1;
  static constexpr int always = 2;
};

/// An integer of 64 Words bits: the shortest that nvcc adds with carries.
template <int Words>
struct narrow_integer {
  using type = wide_integer<Words>;
};
template <>
struct narrow_integer<1> {
  using type = long long;
};
template <>
struct narrow_integer<2> {
  using type = signed_128;
};
template <int Words>
using narrow_integer_t = typename narrow_integer<Words>::type;

__device__ __forceinline__ long long sum_of_narrow(long long a, long long b) { return a + b; }
__device__ __forceinline__ signed_128 sum_of_narrow(signed_128 a, signed_128 b) { return a + b; }
template <int Words>
__device__ __forceinline__ wide_integer<Words> sum_of_narrow(wide_integer<Words> a,
                                                             const wide_integer<Words>& b) {
  a.add(b);
  return a;
}

__device__ __forceinline__ three_words three_words_of(long long sum) {
  const auto sign = static_cast<std::uint64_t>(sum >> 63);
  return {static_cast<std::uint64_t>(sum), sign, sign};
}
__device__ __forceinline__ three_words three_words_of(signed_128 sum) {
  return {static_cast<std::uint64_t>(sum), static_cast<std::uint64_t>(sum >> 64),
          static_cast<std::uint64_t>(static_cast<long long>(sum >> 64) >> 63)};
}
__device__ __forceinline__ three_words three_words_of(const wide_integer<3>& sum) {
  return {sum.word[0], sum.word[1], sum.word[2]};
}

/// A sum of few words: what an exact_window of it would be.
__device__ __forceinline__ narrow_window window_of_narrow(long long sum, int least) {
  narrow_window result{};
  result.negative = sum < 0;
  result.size.word[0] = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  result.least = least;
  return result;
}
__device__ __forceinline__ narrow_window window_of_narrow(signed_128 sum, int least) {
  narrow_window result{};
  result.negative = sum < 0;
  const auto size = static_cast<unsigned_128>(sum < 0 ? -sum : sum);
  result.size.word[0] = static_cast<std::uint64_t>(size);
  result.size.word[1] = static_cast<std::uint64_t>(size >> 64);
  result.least = least;
  return result;
}
__device__ __forceinline__ narrow_window window_of_narrow(const wide_integer<3>& sum, int least) {
  narrow_window result{};
  result.negative = sum.is_negative();
  const wide_integer<3> size = sum.magnitude();
#pragma unroll
  for (int i = 0; i < 3; ++i) result.size.word[i] = size.word[i];
  result.least = least;
  return result;
}

/// Whether numbers are -0, all of them.
template <class Number, int N>
__device__ __forceinline__ bool all_minus_zero(const registers<Number, N>& items) {
  using bits_type = typename anchors<Number>::bits_type;
  bool all = true;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    all = all && __builtin_bit_cast(bits_type, items[i]) == bits_type{1}
                                                                << (8 * sizeof(Number) - 1);
  }
  return all;
}

/// The scope of a vote on whether there is more to do: the warp, or each lane for itself.
struct all_lanes {
  __device__ __forceinline__ static bool any(bool mine) { return __any_sync(full_warp, mine) != 0; }
};
struct each_lane {
  __device__ __forceinline__ static bool any(bool mine) { return mine; }
};

/// What a lane has of a tree. All calls by all lanes of the warp, if Lanes are all_lanes.
template <class Number, class Lanes = all_lanes>
class narrow_sum {
  using anchor = anchors<Number>;
  using cuts = narrow_cuts<Number>;
  using bits_type = typename anchor::bits_type;
  static constexpr bits_type sign = bits_type{1} << (8 * sizeof(Number) - 1);
  static constexpr int always = cuts::always;
  static constexpr int integer_bits = anchor::step * cuts::levels_of_integer;
  static constexpr int levels = (always + 1) * cuts::levels_of_integer;
  // Bits of the fraction in the upper 32 bits.
  static constexpr int upper_fraction = anchor::fraction - (sizeof(Number) == 4 ? 0 : 32);
  // So that the last anchor is a normal number.
  static constexpr int least_top = 1 - anchor::bias + anchor::step * (levels - 1);

 public:
  /// The upper bits, without a sign, of a number that no item is larger than: the sum of their
  /// sizes, which takes fewer instructions than the largest. Not finite if one is not.
  template <int N>
  __device__ __forceinline__ static int bound_of(const registers<Number, N>& items) {
    constexpr int chains = N < 4 ? 1 : 4;
    Number sum[chains] = {};
#pragma unroll
    for (int i = 0; i < N; ++i) sum[i % chains] = cuda::sum_of(sum[i % chains], size_of(items[i]));
#pragma unroll
    for (int c = 1; c < chains; ++c) sum[0] = cuda::sum_of(sum[0], sum[c]);
    const bits_type bits = bits_of(sum[0]) & ~sign;
    if constexpr (sizeof(Number) == 4) {
      return static_cast<int>(bits);
    } else {
      return static_cast<int>(bits >> 32) | (static_cast<unsigned>(bits) != 0 ? 1 : 0);
    }
  }

  /// Makes the sum that of no items, for items of this bound, or a larger one by 2^headroom at
  /// most. False if items of that size are huge, or not finite.
  __device__ __forceinline__ bool start(int bound, int headroom) {
    top_ = detail::larger((bound >> upper_fraction) - anchor::bias + 2 + headroom, least_top);
#pragma unroll
    for (int p = 0; p < always + 1; ++p) integer_[p] = 0;
    deep_ = false;
    return top_ <= anchor::top;
  }

  /// Adds N items of every lane, which are left as zeros: -0 if they were -0. If
  /// they do not fit it returns false and adds nothing, and the items are lost. `Fits`: start() was
  /// told their bound, so they do.
  template <bool Fits, int N>
  __device__ __forceinline__ bool add(registers<Number, N>& items) {
    const bool is_larger = !Fits && bound_of(items) >= (top_ - 1 + anchor::bias) << upper_fraction;
    bits_type left = 0;
    long long mine[always];
#pragma unroll
    for (int p = 0; p < always; ++p) mine[p] = cut_integer(items, p, left);
    if (Lanes::any((left & ~sign) != 0 || is_larger)) {
      if (!Fits && Lanes::any(is_larger)) return false;
      const long long last = cut_integer(items, always, left);
      if (Lanes::any((left & ~sign) != 0)) return false;
      integer_[always] += last;
      deep_ = true;
    }
#pragma unroll
    for (int p = 0; p < always; ++p) integer_[p] += mine[p];
    return true;
  }

  /// Adds this lane's sum to a state.
  template <class State>
  __device__ __forceinline__ void add_to(State& state) const {
    visit([&](const auto& sum, int least) {
      three_words words = cuda::three_words_of(sum);
      // Words below the state's unit are zero.
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (least - State::least > -64) break;
        words = {words.middle, words.high,
                 static_cast<std::uint64_t>(static_cast<long long>(words.high) >> 63)};
        least += 64;
      }
      words.add_to(state, least);
    });
  }

  /// Calls use(sum of words, the power of two that it counts) with this lane's sum.
  template <class Use>
  __device__ __forceinline__ void visit(const Use& use) const {
    if (!deep_) {
      use(joined<always>(), least(always));
    } else {
      use(joined<always + 1>(), least(always + 1));
    }
  }

 private:
  __device__ __forceinline__ static bits_type bits_of(Number x) {
    return __builtin_bit_cast(bits_type, x);
  }
  __device__ __forceinline__ static Number size_of(Number x) {
    if constexpr (sizeof(Number) == 4) {
      return fabsf(x);
    } else {
      return fabs(x);
    }
  }
  __device__ __forceinline__ int least(int num_integers) const {
    return top_ - anchor::fraction - anchor::step * (num_integers * cuts::levels_of_integer - 1);
  }

  // What the items bring to integer p. What is left of them stays; `left` has its bits.
  template <int N>
  __device__ __forceinline__ long long cut_integer(registers<Number, N>& items, int p,
                                                   bits_type& left) const {
    const int top = top_ - integer_bits * p;
    if constexpr (cuts::levels_of_integer == 1) {
      return cuda::cut_at(top, items, left);
    } else {
      const auto upper = static_cast<int>(cuda::cut_at(top, items, left));
      const auto lower = static_cast<int>(cuda::cut_at(top - anchor::step, items, left));
      return static_cast<long long>(upper) * (1 << anchor::step) + lower;
    }
  }

  template <int Parts>
  __device__ __forceinline__ narrow_integer_t<Parts> joined() const {
    if constexpr (Parts == 1) {
      return integer_[0];
    } else if constexpr (Parts == 2) {
      return static_cast<signed_128>(integer_[0]) * (signed_128{1} << integer_bits) + integer_[1];
    } else {
      three_words sum;
#pragma unroll
      for (int p = 0; p < 3; ++p) sum.template push<integer_bits>(integer_[p]);
      return wide_integer<3>{{sum.low, sum.middle, sum.high}};
    }
  }

  int top_;
  bool deep_;
  long long integer_[always + 1];
};

/// One lane's exact sum of any items, some at a time: narrow as long as they are like each other.
/// Items that do not fit go to a whole state.
template <class Number, class State>
class lane_sum {
 public:
  template <int N>
  __device__ __forceinline__ void add(const registers<Number, N>& items) {
    registers<Number, N> left = items;
    if (begun_ && narrow_.template add<false>(left)) {
      note_zeros(left);
    } else {
      start_with(items);
    }
  }

  /// The sum of what was added, at least one item.
  __device__ __forceinline__ State state() {
    if (begun_) narrow_.add_to(state_);
    state_.marks |= only_minus_zero_ ? seen::minus_zero : seen::other;
    return state_;
  }

 private:
  // How much larger than the first items others may be, in powers of two.
  static constexpr int headroom = sizeof(Number) == 4 ? 6 : 16;

  template <int N>
  __device__ __forceinline__ void start_with(const registers<Number, N>& items) {
    if (begun_) narrow_.add_to(state_);
    registers<Number, N> left = items;
    begun_ = narrow_.start(narrow_.bound_of(left), headroom) && narrow_.template add<false>(left);
    if (begun_) {
      note_zeros(left);
      return;
    }
#pragma unroll 1
    for (int i = 0; i < N; ++i) {
      Number item = items[0];
#pragma unroll
      for (int k = 1; k < N; ++k) item = i == k ? items[k] : item;
      state_.add(item);
    }
    only_minus_zero_ = only_minus_zero_ && cuda::all_minus_zero(items);
  }
  template <int N>
  __device__ __forceinline__ void note_zeros(const registers<Number, N>& left) {
    if (only_minus_zero_) only_minus_zero_ = cuda::all_minus_zero(left);
  }

  narrow_sum<Number, each_lane> narrow_;
  bool begun_ = false;
  bool only_minus_zero_ = true;
  State state_ = State::nothing();
};

}  // namespace tilefold::detail::cuda
