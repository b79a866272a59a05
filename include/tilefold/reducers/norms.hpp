// SPDX-License-Identifier: Apache-2.0
//
// Norms, dot product and cosine. Results are double (linf excepted), each operation rounded once.
// The l2 norm and rms never overflow nor lose small elements on the way: squares of doubles are
// summed in three ranges of magnitude, scaled by powers of two (J. L. Blue, "A portable Fortran
// program to find the Euclidean norm of a vector", 1978). Squares of anything smaller fit a double.
#pragma once

#include <concepts>
#include <type_traits>

#include <tilefold/detail/core/block_claims.hpp>
#include <tilefold/detail/core/pair_function.hpp>
#include <tilefold/detail/core/real_math.hpp>
#include <tilefold/detail/core/reducer_shortcuts.hpp>
#include <tilefold/op.hpp>
#include <tilefold/reducer.hpp>
#include <tilefold/reducers/basic.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail {

/// A sum of squares of doubles: of those of ordinary size, of the big ones times 2^-1200 and of the
/// small ones times 2^1200. No sum of 2^63 of them overflows or is subnormal.
struct scaled_squares {
  double ordinary;
  double big;
  double small;

  static constexpr double least_ordinary = 0x1p-450;
  static constexpr double greatest_ordinary = 0x1p450;

  /// Whether the square of x is kept as it is, or is that of a zero.
  static bool is_ordinary(double x) {
    const double size = detail::magnitude(x);
    return (size >= least_ordinary && size <= greatest_ordinary) || size == 0.0;
  }

  TILEFOLD_HD static scaled_squares of(double x) {
    const double size = detail::magnitude(x);
    // A NaN fails both comparisons.
    const bool is_big = size > greatest_ordinary;
    const bool is_small = size < least_ordinary;
    const double scaled = is_big     ? rounded_product(x, 0x1p-600)
                          : is_small ? rounded_product(x, 0x1p600)
                                     : x;
    const double square = rounded_product(scaled, scaled);
    return {is_big || is_small ? 0.0 : square, is_big ? square : 0.0, is_small ? square : 0.0};
  }

  TILEFOLD_HD static scaled_squares sum(const scaled_squares& a, const scaled_squares& b) {
    return {rounded_sum(a.ordinary, b.ordinary), rounded_sum(a.big, b.big),
            rounded_sum(a.small, b.small)};
  }

  /// The root of the sum divided by `count`.
  TILEFOLD_HD static double root_of_mean(const scaled_squares& s, double count) {
    double total = s.ordinary;
    double scale = 1.0;
    if (s.big != 0.0) {
      // Below 2^-300 of the total where it would be subnormal.
      total = rounded_sum(s.big, rounded_product(rounded_product(s.ordinary, 0x1p-600), 0x1p-600));
      scale = 0x1p600;
    } else if (s.small != 0.0 && s.ordinary == 0.0) {
      total = s.small;
      scale = 0x1p-600;
    } else if (s.small != 0.0) {
      total =
          rounded_sum(s.ordinary, rounded_product(rounded_product(s.small, 0x1p-600), 0x1p-600));
    }
    return rounded_product(rounded_sqrt(rounded_quotient(total, count)), scale);
  }
};

/// The same where no square leaves the range.
struct plain_squares {
  double total;

  template <class T>
  TILEFOLD_HD static plain_squares of(const T& value) {
    const auto x = detail::convert<double>(value);
    return plain_squares{rounded_product(x, x)};
  }
  TILEFOLD_HD static plain_squares sum(const plain_squares& a, const plain_squares& b) {
    return plain_squares{rounded_sum(a.total, b.total)};
  }
  TILEFOLD_HD static double root_of_mean(const plain_squares& s, double count) {
    return rounded_sqrt(rounded_quotient(s.total, count));
  }
};

template <class T>
using squares_of = std::conditional_t<std::same_as<T, double>, scaled_squares, plain_squares>;

template <class Squares>
struct counted_squares {
  double count;
  Squares squares;
};

template <class Squares>
struct block_claims<counted_squares<Squares>> : counted_claims {};

/// |x|, for integers in the unsigned type, which holds that of the least one too.
template <class T>
TILEFOLD_HD auto size_of(const T& x) {
  if constexpr (std::same_as<T, bool> || (integer<T> && !signed_integer<T>)) {
    return x;
  } else if constexpr (integer<T>) {
    using U = made_unsigned_t<T>;
    return static_cast<U>(x < 0 ? modular_t<T>{0} - static_cast<modular_t<T>>(x)
                                : static_cast<modular_t<T>>(x));
  } else if constexpr (is_narrow_float<T>) {
    return detail::magnitude(static_cast<float>(x));
  } else {
    return detail::magnitude(x);
  }
}

struct cosine_state {
  double xx;
  double yy;
  double xy;
};

}  // namespace tilefold::detail

namespace tilefold::reducers {

/// sum |x|, in double. Empty: 0.
struct l1 : detail::zero_reducer {
  template <detail::converts_to_double T>
  TILEFOLD_HD double lift(const T& value) const {
    return detail::magnitude(detail::convert<double>(value));
  }
  TILEFOLD_HD double combine(double a, double b) const { return detail::rounded_sum(a, b); }
  TILEFOLD_HD double project(double total) const { return detail::canonical(total); }
};

/// sqrt(sum x^2), in double; finite if it is representable, whatever the squares. To first order
/// the relative error is at most (ceil(log2 n) / 2 + 2) u, u = 2^-53. Empty: 0.
struct l2 : detail::zero_reducer {
  template <detail::converts_to_double T>
  TILEFOLD_HD detail::squares_of<T> lift(const T& value) const {
    return detail::squares_of<T>::of(value);
  }
  template <class Squares>
  TILEFOLD_HD Squares combine(const Squares& a, const Squares& b) const {
    return Squares::sum(a, b);
  }
  template <class Squares>
  TILEFOLD_HD double project(const Squares& squares) const {
    return detail::canonical(Squares::root_of_mean(squares, 1.0));
  }
};

/// max |x|, in the value type (unsigned for integers, float for narrower ones). A NaN wins.
/// Empty: 0.
struct linf : detail::op_family<maximum> {
  template <class T>
  TILEFOLD_HD auto lift(const T& value) const {
    return detail::size_of(value);
  }
  template <class Acc>
  TILEFOLD_HD Acc identity() const {
    return Acc{};
  }
};

/// The root of the mean square, as l2. Empty: an error.
struct rms : detail::empty_reducer {
  template <detail::converts_to_double T>
  TILEFOLD_HD detail::counted_squares<detail::squares_of<T>> lift(const T& value) const {
    return {1.0, detail::squares_of<T>::of(value)};
  }
  template <class Squares>
  TILEFOLD_HD detail::counted_squares<Squares> combine(
      const detail::counted_squares<Squares>& a, const detail::counted_squares<Squares>& b) const {
    return {detail::rounded_sum(a.count, b.count), Squares::sum(a.squares, b.squares)};
  }
  template <class Squares>
  TILEFOLD_HD double project(const detail::counted_squares<Squares>& s) const {
    return detail::canonical(Squares::root_of_mean(s.squares, s.count));
  }
};

/// The dot product of two ranges: the sum of products in the type where both meet, float for half
/// and int32 for int8; the bits of transform_reduce(first1, last1, first2, init) without init.
struct dot : detail::op_family<plus> {
  template <class X, class Y>
  TILEFOLD_HD auto lift(const X& x, const Y& y) const {
    return detail::meeting_op<multiplies, void>{}(x, y);
  }
};

/// The cosine of the angle between two ranges, sum(x y) / (|x| |y|), in double; NaN if either is
/// zero. Doubles must lie between 2^-450 and 2^450 in magnitude, or be 0.
struct cosine : detail::empty_reducer {
  template <detail::converts_to_double X, detail::converts_to_double Y>
  TILEFOLD_HD detail::cosine_state lift(const X& first, const Y& second) const {
    const auto x = detail::convert<double>(first);
    const auto y = detail::convert<double>(second);
    return {detail::rounded_product(x, x), detail::rounded_product(y, y),
            detail::rounded_product(x, y)};
  }
  TILEFOLD_HD detail::cosine_state combine(const detail::cosine_state& a,
                                           const detail::cosine_state& b) const {
    return {detail::rounded_sum(a.xx, b.xx), detail::rounded_sum(a.yy, b.yy),
            detail::rounded_sum(a.xy, b.xy)};
  }
  TILEFOLD_HD double project(const detail::cosine_state& s) const {
    const double scale = detail::root_of_product(s.xx, s.yy);
    return detail::canonical(detail::rounded_quotient(s.xy, scale));
  }
};

}  // namespace tilefold::reducers

namespace tilefold::detail {

template <>
struct ways<reducers::l1> : sum_of_non_negatives_ways {};
template <>
struct ways<reducers::l2> : sum_of_non_negatives_ways {};
template <>
struct ways<reducers::linf> : order_free_ways {};
template <class R>
  requires one_of<R, reducers::rms, reducers::dot, reducers::cosine>
struct ways<R> : commutative_ways {};

}  // namespace tilefold::detail

TILEFOLD_WARNINGS_BACK
