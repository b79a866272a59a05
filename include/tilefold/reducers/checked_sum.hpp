// SPDX-License-Identifier: Apache-2.0
//
// Sums of integers with a verdict: the sum as it wraps, and whether it is the real one. The
// accumulator has more bits than any sum needs, so nothing is lost on the way and no order enters.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/exact/wide_integer.hpp>
#include <tilefold/half.hpp>
#include <tilefold/op.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold::reducers {

/// What checked_sum gives.
template <class T>
struct checked_value {
  /// The sum modulo 2^bits of T.
  T value;
  /// Whether that is the sum, which T then can hold.
  bool fits;
};

}  // namespace tilefold::reducers

namespace tilefold::detail {

/// The sum of integers of type T, 2^63 of them at most.
template <integer T>
struct integer_sum {
  static constexpr int words = sizeof(T) <= 8 ? 2 : 3;

  wide_integer<words> sum;

  TILEFOLD_HD integer_sum() : sum{} {}
  /// Of one integer, of any type that an item may have or a narrower one.
  template <integer U>
    requires(sizeof(U) <= 8 || sizeof(T) > 8)
  TILEFOLD_HD explicit integer_sum(const U& x) : sum(integer_sum::extended(x)) {}

  /// The sum in Result.
  template <integer Result>
  TILEFOLD_HD reducers::checked_value<Result> in() const {
    auto bits = static_cast<made_unsigned_t<Result>>(sum.word[0]);
    if constexpr (sizeof(Result) > 8) bits |= static_cast<decltype(bits)>(sum.word[1]) << 64;
    const auto value = static_cast<Result>(bits);
    // The value is the sum if it gives the same words.
    const auto held = integer_sum::extended(value);
    bool fits = detail::is_negative(value) == sum.is_negative();
    for (int i = 0; i < words; ++i) fits = fits && held.word[i] == sum.word[i];
    return {value, fits};
  }

 private:
  template <integer U>
  TILEFOLD_HD static wide_integer<words> extended(const U& x) {
    const std::uint64_t sign = detail::is_negative(x) ? ~std::uint64_t{0} : 0;
    wide_integer<words> result;
    result.word[0] = static_cast<std::uint64_t>(x);
    for (int i = 1; i < words; ++i) result.word[i] = sign;
    if constexpr (sizeof(U) > 8) {
      result.word[1] = static_cast<std::uint64_t>(static_cast<made_unsigned_t<U>>(x) >> 64);
    }
    return result;
  }
};

/// The type in which sums of T are given by default.
template <integer T>
using sum_in_64_bits = std::conditional_t<
    (sizeof(T) > 8), T,
    std::conditional_t<signed_integer<T> || std::same_as<T, bool>, std::int64_t, std::uint64_t>>;

}  // namespace tilefold::detail

namespace tilefold::reducers {

/// The sum of integers or bool, and whether it fits: checked_value{value, fits}. `value` is the sum
/// modulo 2^bits, `fits` whether Result can hold the real sum. Result: void for 64 bits (of
/// integers of 128 bits their type), or an integer type by name. Empty: {0, true}.
template <class Result = void>
struct checked_sum : detail::zero_reducer {
  static_assert(std::is_void_v<Result> || detail::wrapping_integer<Result>,
                "tilefold: the Result of checked_sum<Result> must be an integer type");

  template <detail::integer T>
  TILEFOLD_HD detail::integer_sum<T> lift(const T& value) const {
    return detail::integer_sum<T>(value);
  }
  template <class T>
  TILEFOLD_HD detail::integer_sum<T> combine(const detail::integer_sum<T>& a,
                                             const detail::integer_sum<T>& b) const {
    detail::integer_sum<T> result = a;
    result.sum.add(b.sum);
    return result;
  }
  template <class T>
  TILEFOLD_HD auto project(const detail::integer_sum<T>& sum) const {
    return sum.template in<detail::named_or<Result, detail::sum_in_64_bits<T>>>();
  }
};

}  // namespace tilefold::reducers

namespace tilefold::detail {

template <class Result>
struct ways<reducers::checked_sum<Result>> : order_free_ways {};

template <class Result>
struct functions_of<reducers::checked_sum<Result>> {
  template <class... Values>
  static constexpr bool fit() {
    constexpr bool integers = sizeof...(Values) == 1 && (integer<Values> && ...);
    static_assert(integers,
                  "tilefold: checked_sum takes integers and bool; for floating and complex numbers "
                  "there is exact_sum");
    return integers;
  }
};

}  // namespace tilefold::detail
