// SPDX-License-Identifier: Apache-2.0
//
// An exact sum as accumulators keep it. Its words have signs: word i counts 2^(64 i) units, from
// -2^63 to 2^63 - 1 of them. Every integer has one such form. Two's complement has one, too, but
// there a sum that passes zero changes all words above it:
//
//     sum      two's complement          balanced
//      5       0   0   0   5             0   0   0   5
//     -2      ~0  ~0  ~0  -2             0   0   0  -2
//
// So an item changes one word or two, and what it costs to add with atomics hardly depends on the
// sum (detail/cuda/in_kernel/exact_deposit.cuh).
#pragma once

#include <concepts>
#include <cstdint>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/exact/exact_state.hpp>
#include <tilefold/detail/exact/wide_integer.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail {

/// What a + b, as signed words, carries to the next word: 1, -1 or 0. It overflows if both have a
/// sign that `sum` has not.
TILEFOLD_HD inline std::uint64_t signed_carry(std::uint64_t a, std::uint64_t b, std::uint64_t sum) {
  const bool overflows = ((a ^ sum) & (b ^ sum)) >> 63 != 0;
  return !overflows ? 0 : a >> 63 != 0 ? ~std::uint64_t{0} : 1;
}

/// Adds mantissa * 2^bit to balanced words, or takes it off; the mantissa of an item with fractions
/// is below 2^63. add_to(i, change) adds `change` to word i and returns what that was before.
TILEFOLD_NO_EXEC_CHECK
template <int Words, class AddTo>
TILEFOLD_HD void add_to_balanced(std::uint64_t mantissa, int bit, bool takes_off, AddTo&& add_to) {
  const int shift = bit % 64;
  const std::uint64_t upper = mantissa >> 1 >> (63 - shift);
  // What changes, in two's complement: a word, and the rest above it.
  const std::uint64_t sign = takes_off ? ~std::uint64_t{0} : 0;
  std::uint64_t change = ((mantissa << shift) ^ sign) - sign;
  std::uint64_t rest = (upper ^ sign) + (takes_off && change == 0 ? 1 : 0);
  // With its sign the word is 2^64 less if its highest bit is set.
  rest += change >> 63;
  for (int i = bit / 64; i < Words; ++i) {
    const std::uint64_t before = add_to(i, change);
    rest += detail::signed_carry(before, change, before + change);
    if (rest == 0) return;
    change = rest;
    rest = 0;
  }
}

/// An integer in balanced words, the least first. It wraps.
template <int Words>
struct balanced_integer {
  std::uint64_t word[Words];

  TILEFOLD_HD static balanced_integer of(const wide_integer<Words>& x) {
    balanced_integer result;
    std::uint64_t carry = 0;
    TILEFOLD_UNROLL(Words <= 12 ? Words : 1)
    for (int i = 0; i < Words; ++i) {
      // One more below a word that counts as negative from now on.
      result.word[i] = x.word[i] + carry;
      carry = (carry != 0 && result.word[i] == 0) || result.word[i] >> 63 != 0 ? 1 : 0;
    }
    return result;
  }

  /// This integer in two's complement.
  TILEFOLD_HD wide_integer<Words> wide() const {
    wide_integer<Words> result;
    std::uint64_t borrow = 0;
    TILEFOLD_UNROLL(Words <= 12 ? Words : 1)
    for (int i = 0; i < Words; ++i) {
      result.word[i] = word[i] - borrow;
      borrow = word[i] >> 63 != 0 || word[i] < borrow ? 1 : 0;
    }
    return result;
  }

  TILEFOLD_HD bool is_zero() const { return detail::all_zero(word); }

  TILEFOLD_HD void add(const balanced_integer& other) {
    std::uint64_t carry = 0;  // -1, 0 or 1
    TILEFOLD_UNROLL(Words <= 12 ? Words : 1)
    for (int i = 0; i < Words; ++i) {
      const std::uint64_t sum = word[i] + other.word[i];
      const std::uint64_t result = sum + carry;
      carry = detail::signed_carry(word[i], other.word[i], sum) +
              detail::signed_carry(sum, carry, result);
      word[i] = result;
    }
  }

  /// Adds mantissa * 2^bit, or takes it off. The sum fits.
  TILEFOLD_HD void add_shifted(std::uint64_t mantissa, int bit, bool takes_off) {
    detail::add_to_balanced<Words>(mantissa, bit, takes_off, [&](int i, std::uint64_t change) {
      const std::uint64_t before = word[i];
      word[i] = before + change;
      return before;
    });
  }
};

/// What an item adds to a sum: mantissa * 2^bit units; or marks alone, if there are any.
struct exact_addend {
  std::uint64_t mantissa;
  int bit;
  bool negative;
  std::uint64_t marks;
};

template <int Least, std::floating_point T>
TILEFOLD_HD exact_addend addend_of(T x) {
  const float_parts parts = detail::parts_of(x);
  if (!parts.finite) {
    const std::uint64_t kind = detail::is_nan(x) ? seen::nan
                               : parts.negative  ? seen::minus_infinity
                                                 : seen::plus_infinity;
    return {0, 0, false, seen::other | kind};
  }
  if (parts.mantissa == 0) return {0, 0, false, parts.negative ? seen::minus_zero : seen::other};
  const int bit = parts.exponent - Least;
  // Below the least bit there are zeros only: of a half that is a float.
  return bit < 0 ? exact_addend{parts.mantissa >> -bit, 0, parts.negative, 0}
                 : exact_addend{parts.mantissa, bit, parts.negative, 0};
}
template <int Least, std::integral T>
TILEFOLD_HD exact_addend addend_of(T x) {
  const bool negative = detail::is_negative(x);
  const auto bits = static_cast<std::uint64_t>(x);
  return {negative ? std::uint64_t{0} - bits : bits, -Least, negative, x == T{} ? seen::other : 0};
}

/// An exact state in balanced words.
template <class State>
struct balanced_state;
template <int Least, int Most>
struct balanced_state<exact_state<Least, Most>> {
  using state_type = exact_state<Least, Most>;
  static constexpr int least = Least;
  static constexpr int words = state_type::words;

  balanced_integer<words> sum;
  std::uint64_t marks;  // of `seen`

  TILEFOLD_HD static balanced_state nothing() { return balanced_state{}; }
  TILEFOLD_HD static balanced_state of(const state_type& state) {
    return {balanced_integer<words>::of(state.sum), state.marks};
  }
  TILEFOLD_HD state_type wide() const { return {sum.wide(), marks}; }

  template <class T>
    requires std::floating_point<T> || std::integral<T>
  TILEFOLD_HD void add(T x) {
    const exact_addend item = detail::addend_of<Least>(x);
    marks |= item.marks;
    if (item.marks != 0) return;
    marks |= seen::other;
    sum.add_shifted(item.mantissa, item.bit, item.negative);
  }

  TILEFOLD_HD void add(const balanced_state& other) {
    sum.add(other.sum);
    marks |= other.marks;
  }

  /// What equal items leave, however they are added: of -0 no mark beside anything else, of what is
  /// not finite one mark and no sum, since nothing else shows in any value. (On a GPU a NaN or an
  /// infinity may take others of its size along.)
  TILEFOLD_HD balanced_state canonical() const {
    constexpr std::uint64_t infinities = seen::plus_infinity | seen::minus_infinity;
    if ((marks & seen::nan) != 0 || (marks & infinities) == infinities) {
      return {{}, seen::other | seen::nan};
    }
    if ((marks & infinities) != 0) return {{}, seen::other | (marks & infinities)};
    return {sum, (marks & seen::other) != 0 ? marks & ~seen::minus_zero : marks};
  }
};

}  // namespace tilefold::detail

TILEFOLD_WARNINGS_BACK
