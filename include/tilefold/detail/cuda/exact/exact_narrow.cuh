// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of trees that lanes of a warp hold between them, in a few words instead of a whole
// state. Items are cut as in exact_digits.cuh, but against an anchor that fits them: just above the
// largest item of the warp, or of the tree's first stripe. So two digits hold ordinary data:
//
//     anchor     top                                              bits below the largest item
//     float      [ 23 bits | 23 bits ]    [ 23 bits | 23 bits ]       [ ] is an integer of 64 bits
//     double     [ 52 bits ] [ 52 bits ]  [ 52 bits ]
//                always made              only if the others leave something
//
// A lane has its integers in registers, as sums over all stripes of the tree, and lanes add theirs
// in the end. If items span more bits, are huge or not finite, add_stretches() makes the sum.
#pragma once

#include <tilefold/detail/cuda/exact/exact_digits.cuh>
#include <tilefold/detail/exact/exact_state.hpp>
#include <tilefold/detail/exact/wide_integer.hpp>

namespace tilefold::detail::cuda {

// Exact sums of several trees in the lanes of a warp, whose stretches of few items lie in registers
// (lane_plan.cuh). All items are cut against the anchors of the warp's largest item
// (exact_digits.cuh), and the lanes of a tree add their digits of each level as integers:
//
//     lane        0       1       2       3       4       ...
//     stretches   tree 0  tree 0  tree 1  tree 1  tree 1
//     level 5     d <---- d       d <---- d <---- d       digits, added up in a tree's first lane
//     level 6     d <---- d       d <---- d <---- d
//     number      (level 5) * 2^step + level 6, of three words

/// The sum of the lanes of a tree that has `stretches` stretches, of which this lane has stretch
/// `stretch`, in the lane of the first. `most_stretches`: of any tree of the warp.
template <class Value, class Plus>
TILEFOLD_D Value sum_of_stretches(Value value, int stretch, int stretches, int most_stretches,
                                  const Plus& plus) {
#pragma unroll 1
  for (int distance = 1; distance < most_stretches; distance *= 2) {
    const Value received = cuda::shuffle_down(value, distance);
    if (stretches - stretch > distance) value = plus(value, received);
  }
  return value;
}

/// A signed number of three words, the lowest first.
struct three_words {
  std::uint64_t low = 0;
  std::uint64_t middle = 0;
  std::uint64_t high = 0;

  /// Becomes *this * 2^Bits + x.
  template <int Bits>
  TILEFOLD_D void push(long long x) {
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

  /// Adds *this * 2^exponent, a multiple of the state's unit, to a state.
  template <class State>
  TILEFOLD_D void add_to(State& state, int exponent) const {
    const std::uint64_t sign = static_cast<std::uint64_t>(static_cast<long long>(high) >> 63);
    // The number in four words, of which the lowest is added to word bit / 64 of the state.
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

/// Adds the items of a tree to the state of the lane that has its first stretch. Missing items are
/// -0. False, with nothing added, if an item of the warp is huge or not finite.
template <class Number, int N, class State>
TILEFOLD_D bool add_stretches(registers<Number, N>& items, int stretch, int stretches,
                              int most_stretches, State& state) {
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
    // Only zeros, or NaNs, which largest_exponent() of floats ignores.
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
      return false;  // numbers leave nothing, so there is a NaN
    }
  }
  sum.marks = marks;
  state.add(sum);
  return true;
}

// Sums of 64, 128 and 192 bits: integers of the shortest types that nvcc adds with carries.
TILEFOLD_D long long sum_of_narrow(long long a, long long b) { return a + b; }
TILEFOLD_D signed_128 sum_of_narrow(signed_128 a, signed_128 b) { return a + b; }
template <int Words>
TILEFOLD_D wide_integer<Words> sum_of_narrow(wide_integer<Words> a, const wide_integer<Words>& b) {
  a.add(b);
  return a;
}

TILEFOLD_D three_words three_words_of(long long sum) {
  const auto sign = static_cast<std::uint64_t>(sum >> 63);
  return {static_cast<std::uint64_t>(sum), sign, sign};
}
TILEFOLD_D three_words three_words_of(signed_128 sum) {
  return {static_cast<std::uint64_t>(sum), static_cast<std::uint64_t>(sum >> 64),
          static_cast<std::uint64_t>(static_cast<long long>(sum >> 64) >> 63)};
}
TILEFOLD_D three_words three_words_of(const wide_integer<3>& sum) {
  return {sum.word[0], sum.word[1], sum.word[2]};
}

/// The narrow_window of a sum of few words.
template <class Sum>
TILEFOLD_D narrow_window window_of_narrow(const Sum& sum, int least) {
  narrow_window result{};
  if constexpr (std::same_as<Sum, long long>) {
    result.negative = sum < 0;
    result.size.word[0] = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  } else if constexpr (std::same_as<Sum, signed_128>) {
    result.negative = sum < 0;
    const auto size = static_cast<unsigned_128>(sum < 0 ? -sum : sum);
    result.size.word[0] = static_cast<std::uint64_t>(size);
    result.size.word[1] = static_cast<std::uint64_t>(size >> 64);
  } else {
    result.negative = sum.is_negative();
    const Sum size = sum.magnitude();
#pragma unroll
    for (int i = 0; i < 3; ++i) result.size.word[i] = size.word[i];
  }
  result.least = least;
  return result;
}

/// Whether numbers are -0, all of them.
template <class Number, int N>
TILEFOLD_D bool all_minus_zero(const registers<Number, N>& items) {
  using bits_type = typename anchors<Number>::bits_type;
  constexpr auto minus_zero = __builtin_bit_cast(bits_type, -Number{0});
  bool all = true;
#pragma unroll
  for (int i = 0; i < N; ++i) all = all && __builtin_bit_cast(bits_type, items[i]) == minus_zero;
  return all;
}

/// The scope of a vote on whether there is more to do: the warp, or each lane for itself.
struct all_lanes {
  TILEFOLD_D static bool any(bool mine) { return __any_sync(full_warp, mine) != 0; }
};
struct each_lane {
  TILEFOLD_D static bool any(bool mine) { return mine; }
};

/// A lane's part of a tree's sum. All calls by all lanes of the warp, if Lanes are all_lanes.
template <class Number, class Lanes = all_lanes>
class narrow_sum {
  using anchor = anchors<Number>;
  using bits_type = typename anchor::bits_type;
  static constexpr bits_type sign = bits_type{1} << (8 * sizeof(Number) - 1);
  // Levels of an integer, and integers that every item is cut into.
  static constexpr int levels_of_integer = sizeof(Number) == 4 ? 2 : 1;
  static constexpr int always = sizeof(Number) == 4 ? 1 : 2;
  static constexpr int integer_bits = anchor::step * levels_of_integer;
  static constexpr int levels = (always + 1) * levels_of_integer;
  // Bits of the fraction in the upper 32 bits.
  static constexpr int upper_fraction = anchor::fraction - (sizeof(Number) == 4 ? 0 : 32);
  // So that the last anchor is a normal number.
  static constexpr int least_top = 1 - anchor::bias + anchor::step * (levels - 1);

 public:
  /// The upper bits of a bound of the items' sizes: their sum, which takes fewer instructions than
  /// the largest. Not finite if an item is not.
  template <int N>
  TILEFOLD_D static int bound_of(const registers<Number, N>& items) {
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

  /// Empties the sum, for items up to this bound times 2^headroom; false if these are huge.
  TILEFOLD_D bool start(int bound, int headroom) {
    top_ = detail::larger((bound >> upper_fraction) - anchor::bias + 2 + headroom, least_top);
#pragma unroll
    for (int p = 0; p < always + 1; ++p) integer_[p] = 0;
    deep_ = false;
    return top_ <= anchor::top;
  }

  /// Adds N items of every lane, and leaves zeros in their place: -0 of -0. If they do not fit,
  /// adds nothing, and loses them. `Fits`: start() got their bound, so none is too large.
  template <bool Fits, int N>
  TILEFOLD_D bool add(registers<Number, N>& items) {
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
  TILEFOLD_D void add_to(State& state) const {
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
  TILEFOLD_D void visit(const Use& use) const {
    if (!deep_) {
      use(joined<always>(), least(always));
    } else {
      use(joined<always + 1>(), least(always + 1));
    }
  }

 private:
  TILEFOLD_D static bits_type bits_of(Number x) { return __builtin_bit_cast(bits_type, x); }
  TILEFOLD_D static Number size_of(Number x) {
    if constexpr (sizeof(Number) == 4) {
      return fabsf(x);
    } else {
      return fabs(x);
    }
  }
  TILEFOLD_D int least(int num_integers) const {
    return top_ - anchor::fraction - anchor::step * (num_integers * levels_of_integer - 1);
  }

  // The items' digits of integer p. What is left of them stays; `left` is the bitwise or of it.
  template <int N>
  TILEFOLD_D long long cut_integer(registers<Number, N>& items, int p, bits_type& left) const {
    const int top = top_ - integer_bits * p;
    if constexpr (levels_of_integer == 1) {
      return cuda::cut_at(top, items, left);
    } else {
      const auto upper = static_cast<int>(cuda::cut_at(top, items, left));
      const auto lower = static_cast<int>(cuda::cut_at(top - anchor::step, items, left));
      return static_cast<long long>(upper) * (1 << anchor::step) + lower;
    }
  }

  template <int Parts>
  TILEFOLD_D auto joined() const {
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

/// One lane's exact sum of any items, N at a time: narrow as long as their sizes are near each
/// other. Items that do not fit are added to a whole state.
template <class Number, class State>
class lane_sum {
 public:
  template <int N>
  TILEFOLD_D void add(const registers<Number, N>& items) {
    registers<Number, N> left = items;
    if (begun_ && narrow_.template add<false>(left)) {
      note_zeros(left);
    } else {
      start_with(items);
    }
  }

  /// The sum of what was added, at least one item.
  TILEFOLD_D State state() {
    if (begun_) narrow_.add_to(state_);
    state_.marks |= only_minus_zero_ ? seen::minus_zero : seen::other;
    return state_;
  }

 private:
  // Later items may be 2^headroom times as large as the first ones.
  static constexpr int headroom = sizeof(Number) == 4 ? 6 : 16;

  template <int N>
  TILEFOLD_D void start_with(const registers<Number, N>& items) {
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
  TILEFOLD_D void note_zeros(const registers<Number, N>& left) {
    if (only_minus_zero_) only_minus_zero_ = cuda::all_minus_zero(left);
  }

  narrow_sum<Number, each_lane> narrow_;
  bool begun_ = false;
  bool only_minus_zero_ = true;
  State state_ = State::nothing();
};

}  // namespace tilefold::detail::cuda
