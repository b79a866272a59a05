// SPDX-License-Identifier: Apache-2.0
//
// A sum of floating numbers or integers without any rounding: an integer that counts units of a
// power of two below which no item has bits. So addition is that of integers, and no order enters.
//
//     float      2^-171 .. 2^128 and 64 bits for 2^63 items        6 words of 64 bits
//     double     2^-1082 .. 2^1024                                34
//     half, fp8  2^-24 .. 2^16                                      2
//     integers   1 .. 2^64                                          2
//     products   of floats 10, of doubles 67, of halves and integers 3
//
// Sums of floats and doubles begin below their least bit, 2^-149 and 2^-1074, as far as no more
// words are needed: so that items around 1 lie within one word.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/exact/wide_integer.hpp>
#include <tilefold/half.hpp>
#include <tilefold/op.hpp>

namespace tilefold::detail {

/// What a sum has seen beside its finite value, a bit each.
namespace seen {
inline constexpr std::uint64_t nan = 1;
inline constexpr std::uint64_t plus_infinity = 2;
inline constexpr std::uint64_t minus_infinity = 4;
inline constexpr std::uint64_t minus_zero = 8;
inline constexpr std::uint64_t other = 16;  // anything but -0

/// The mark of an infinity or a NaN.
template <class T>
TILEFOLD_HD constexpr std::uint64_t of_not_finite(T x) {
  return x != x ? nan : x > 0 ? plus_infinity : minus_infinity;
}
}  // namespace seen

/// Whether items can leave these marks beside a sum that is zero or is not.
TILEFOLD_HD constexpr bool marks_fit(std::uint64_t marks, bool sum_is_zero) {
  if (marks >= 2 * seen::other) return false;
  return (marks & seen::other) != 0 || (sum_is_zero && (marks & ~seen::minus_zero) == 0);
}

/// A finite floating number: (-1)^negative mantissa 2^exponent.
struct float_parts {
  std::uint64_t mantissa;
  int exponent;
  bool negative;
  bool finite;
};

template <std::floating_point T>
TILEFOLD_HD float_parts parts_of(T x) {
  static_assert(std::same_as<T, float> || std::same_as<T, double>);
  using bits_type = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr int fraction = sizeof(T) == 4 ? 23 : 52;
  constexpr int most = sizeof(T) == 4 ? 0xff : 0x7ff;
  constexpr int least = sizeof(T) == 4 ? -149 : -1074;
  const auto bits = __builtin_bit_cast(bits_type, x);
  const auto exponent = static_cast<int>(bits >> fraction) & most;
  const bits_type below = bits & ((bits_type{1} << fraction) - 1);
  const bits_type mantissa = exponent == 0 ? below : below | bits_type{1} << fraction;
  return {mantissa, least + (exponent == 0 ? 0 : exponent - 1), (bits >> (8 * sizeof(T) - 1)) != 0,
          exponent != most};
}

/// The sum of items that are multiples of 2^Least and at most 2^Most in size, 2^63 of them at most.
template <int Least, int Most>
struct exact_state {
  static constexpr int least = Least;
  static constexpr int words = (Most - Least + 64 + 63) / 64;

  wide_integer<words> sum;
  std::uint64_t marks;  // of `seen`

  TILEFOLD_HD static exact_state nothing() { return exact_state{}; }

  template <std::floating_point T>
  TILEFOLD_HD void add(T x) {
    const float_parts parts = detail::parts_of(x);
    if (parts.finite) {
      add_product({parts.mantissa, 0}, parts.exponent, parts.negative);
    } else {
      mark(x);
    }
  }

  template <std::integral T>
  TILEFOLD_HD void add(T x) {
    const bool negative = detail::is_negative(x);
    const auto bits = static_cast<std::uint64_t>(x);
    add_product({negative ? std::uint64_t{0} - bits : bits, 0}, 0, negative);
    marks |= seen::other;
  }

  /// x y, exactly.
  template <std::floating_point T>
  TILEFOLD_HD void add_product_of(T x, T y) {
    const float_parts a = detail::parts_of(x);
    const float_parts b = detail::parts_of(y);
    if (a.finite && b.finite) {
      add_product(detail::wide_product(a.mantissa, b.mantissa), a.exponent + b.exponent,
                  a.negative != b.negative);
    } else {
      mark(rounded_product(x, y));  // an infinity, or NaN
    }
  }
  template <std::integral X, std::integral Y>
  TILEFOLD_HD void add_product_of(X x, Y y) {
    const bool x_negative = detail::is_negative(x);
    const bool y_negative = detail::is_negative(y);
    const auto a = static_cast<std::uint64_t>(x);
    const auto b = static_cast<std::uint64_t>(y);
    add_product(detail::wide_product(x_negative ? std::uint64_t{0} - a : a,
                                     y_negative ? std::uint64_t{0} - b : b),
                0, x_negative != y_negative);
    marks |= seen::other;
  }

  /// Adds count * 2^exponent, a multiple of 2^Least.
  TILEFOLD_HD void add_multiple(std::int64_t count, int exponent) {
    const auto bits = static_cast<std::uint64_t>(count);
    add_product({count < 0 ? std::uint64_t{0} - bits : bits, 0}, exponent, count < 0);
  }

  TILEFOLD_HD void add(const exact_state& other) {
    sum.add(other.sum);
    marks |= other.marks;
  }

 private:
  TILEFOLD_HD void add_product(const double_word& magnitude, int exponent, bool negative) {
    if ((magnitude.low | magnitude.high) == 0) {
      marks |= negative ? seen::minus_zero : seen::other;
      return;
    }
    marks |= seen::other;
    // Trailing zeros may lie below the least bit: of a half that is a float.
    const int bit = exponent - Least;
    if (bit < 0) {
      sum.add_shifted({magnitude.low >> -bit, 0}, 0, negative);
    } else {
      sum.add_shifted(magnitude, bit, negative);
    }
  }

  // Notes x, which is not finite.
  template <std::floating_point T>
  TILEFOLD_HD void mark(T x) {
    marks |= seen::other | seen::of_not_finite(x);
  }
};

/// Where the bits of items of type T lie.
template <class T>
struct exact_format;
template <>
struct exact_format<float> {
  using sum = exact_state<-171, 128>;
  using products = exact_state<-298, 256>;
};
template <>
struct exact_format<double> {
  using sum = exact_state<-1082, 1024>;
  using products = exact_state<-2148, 2048>;
};
template <class T>
  requires is_bfloat16<T>
struct exact_format<T> : exact_format<float> {};
template <class T>
  requires(is_narrow_float<T> && !is_bfloat16<T>)
struct exact_format<T> {
  using sum = exact_state<-24, 16>;
  using products = exact_state<-48, 32>;
};
template <std::integral T>
  requires(sizeof(T) <= 8)
struct exact_format<T> {
  using sum = exact_state<0, 64>;
  using products = exact_state<0, 128>;
};

template <class T>
concept exactly_summable = requires { typename exact_format<T>::sum; };

/// Whether every value of U is one of T's sums as it is.
template <class U, class T>
inline constexpr bool adds_exactly = std::same_as<U, T>;
template <std::integral U, std::integral T>
inline constexpr bool adds_exactly<U, T> = exactly_summable<U>;
template <std::integral U>
inline constexpr bool adds_exactly<U, double> = sizeof(U) <= 4;
template <std::integral U>
inline constexpr bool adds_exactly<U, float> = sizeof(U) <= 2;
template <exact_in_float U>
inline constexpr bool adds_exactly<U, double> = true;
template <class U>
  requires is_narrow_float<U>
inline constexpr bool adds_exactly<U, float> = true;

/// What a sum can be rounded to.
template <class T>
inline constexpr bool is_exact_result = std::same_as<T, double> || exact_in_float<T>;

/// An item as states take it: narrow floats as floats.
template <exactly_summable T>
TILEFOLD_HD auto exact_item(const T& x) {
  if constexpr (is_narrow_float<T>) {
    return static_cast<float>(x);
  } else if constexpr (std::same_as<T, bool>) {
    return static_cast<unsigned>(x);
  } else {
    return x;
  }
}

/// What a result is by default: of integers what holds most sums.
template <class T>
struct exact_result {
  using type = std::conditional_t<std::signed_integral<T>, std::int64_t,
                                  std::conditional_t<std::unsigned_integral<T>, std::uint64_t, T>>;
};

/// All that the value of a sum depends on: the highest bits of its size, and what it has seen.
struct exact_window {
  // The highest word of a size that is not zero and three words below it, so 193 bits or all; the
  // lowest bit, which is worth 2^least, is set if there is anything below.
  static constexpr int words = 4;
  wide_integer<words> size;
  int least;
  bool negative;
  std::uint64_t marks;

  /// Whether a NaN, an infinity or zero is all that there is to say.
  TILEFOLD_HD bool is_special() const {
    return (marks & (seen::nan | seen::plus_infinity | seen::minus_infinity)) != 0 ||
           size.is_zero();
  }

  /// The value of a sum that is not finite or zero, in T.
  template <class T>
  TILEFOLD_HD T special() const {
    constexpr std::uint64_t infinities = seen::plus_infinity | seen::minus_infinity;
    if ((marks & seen::nan) != 0 || (marks & infinities) == infinities) return quiet_nan<T>();
    const auto as = [](float x) {
      if constexpr (is_narrow_float<T>) {
        return detail::narrowed<T>(x);
      } else {
        return static_cast<T>(x);
      }
    };
    if ((marks & seen::plus_infinity) != 0) return as(__builtin_inff());
    if ((marks & seen::minus_infinity) != 0) return as(-__builtin_inff());
    const bool all_minus_zero = marks == seen::minus_zero;
    return as(all_minus_zero ? -0.0f : 0.0f);
  }
};

/// The window of a sum of three words at most, of which none is known to be zero: there are shorter
/// ways to its value.
struct narrow_window : exact_window {};

template <int Least, int Most>
TILEFOLD_HD exact_window window_of(const exact_state<Least, Most>& state) {
  constexpr int words = exact_state<Least, Most>::words;
  constexpr int count = exact_window::words;
  const auto size = state.sum.magnitude();
  exact_window result{};
  for (int i = 0; i < count && i < words; ++i) {
    result.size.word[i] = size.word[words > count ? words - count + i : i];
  }
  // As long as the highest word is zero, one more word comes in below.
  int first = words > count ? words - count : 0;
  bool more = false;
  TILEFOLD_UNROLL(words <= 12 ? words : 1)
  for (int i = words - count - 1; i >= 0; --i) {
    if (result.size.word[count - 1] != 0) {
      more = more || size.word[i] != 0;
    } else {
      for (int k = count - 1; k > 0; --k) result.size.word[k] = result.size.word[k - 1];
      result.size.word[0] = size.word[i];
      first = i;
    }
  }
  result.size.word[0] |= more ? 1 : 0;
  result.least = Least + 64 * first;
  result.negative = state.sum.is_negative();
  result.marks = state.marks;
  return result;
}

/// The sum, rounded once to T.
template <class T>
TILEFOLD_HD T value_of(const exact_window& sum) {
  static_assert(is_exact_result<T>,
                "tilefold: an exact result is a float, a double, a narrow float, or of integers "
                "an integer");
  if (sum.is_special()) return sum.template special<T>();
  return detail::rounded_real<T>(sum.size.top(sum.least), sum.negative);
}

/// A sum of few words, rounded once to T. A conversion rounds the highest bits, unless the result
/// may be subnormal or infinite.
template <class T>
TILEFOLD_HD T value_of(const narrow_window& sum) {
  if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
    constexpr int fraction = sizeof(T) == 4 ? 23 : 52;
    constexpr int bias = sizeof(T) == 4 ? 127 : 1023;
    using bits_type = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (sum.size.is_zero()) return sum.template special<T>();
    std::uint64_t size = sum.size.word[0];
    const std::uint64_t upper = sum.size.word[1];
    int least = sum.least;
    if (sum.size.word[2] != 0) {
      const leading_bits top = sum.size.top(sum.least);
      size = top.mantissa | (top.more ? 1 : 0);
      least = top.exponent;
    } else if (upper != 0) {
      const int zeros = detail::leading_zeros(upper);
      const bool more = size << zeros != 0;
      size = upper << zeros | size >> 1 >> (63 - zeros) | (more ? 1 : 0);
      least += 64 - zeros;
    }
    if (-bias < least && least <= bias - 64) {
      const auto scale = __builtin_bit_cast(T, static_cast<bits_type>(least + bias) << fraction);
      const T value = static_cast<T>(size) * scale;
      return sum.negative ? -value : value;
    }
    return detail::rounded_real<T>(sum.size.top(sum.least), sum.negative);
  } else {
    return detail::value_of<T>(static_cast<const exact_window&>(sum));
  }
}

/// The sum of a state, rounded once to T. Integers wrap.
template <class T, int Least, int Most>
TILEFOLD_HD T value_of(const exact_state<Least, Most>& state) {
  if constexpr (std::integral<T>) {
    static_assert(Least == 0 && sizeof(T) <= 8,
                  "tilefold: an exact result that is an integer has 64 bits at most, and is of "
                  "integers");
    return static_cast<T>(state.sum.word[0]);
  } else {
    return detail::value_of<T>(detail::window_of(state));
  }
}

/// The sum divided by `count` > 0, rounded once to T.
template <class T>
TILEFOLD_HD TILEFOLD_APART T mean_of(const exact_window& sum, std::int64_t count) {
  static_assert(is_exact_result<T>,
                "tilefold: an exact mean is a float, a double or a narrow float");
  if (sum.is_special()) return sum.template special<T>();
  return detail::rounded_real<T>(
      detail::quotient(sum.size, static_cast<std::uint64_t>(count), sum.least), sum.negative);
}
template <class T, int Least, int Most>
TILEFOLD_HD T mean_of(const exact_state<Least, Most>& state, std::int64_t count) {
  return detail::mean_of<T>(detail::window_of(state), count);
}

/// The root of a sum of squares, rounded once to T.
template <class T>
TILEFOLD_HD TILEFOLD_APART T root_of(const exact_window& sum) {
  static_assert(is_exact_result<T>,
                "tilefold: an exact root is a float, a double or a narrow float");
  if (sum.is_special()) return sum.template special<T>();
  return detail::rounded_real<T>(detail::square_root(sum.size, sum.least), false);
}
template <class T, int Least, int Most>
TILEFOLD_HD T root_of(const exact_state<Least, Most>& state) {
  return detail::root_of<T>(detail::window_of(state));
}

}  // namespace tilefold::detail
