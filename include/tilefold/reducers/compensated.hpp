// SPDX-License-Identifier: Apache-2.0
//
// Compensated sums: what rounding takes from a sum is kept in a second number (Sum2 and Dot2 of
// Ogita, Rump and Oishi, "Accurate sum and dot product", 2005, on the neighbour tree).
#pragma once

#include <concepts>

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/pair_function.hpp>
#include <tilefold/detail/core/real_math.hpp>
#include <tilefold/detail/core/reducer_shortcuts.hpp>
#include <tilefold/op.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold::detail {

/// A sum and what it lacks.
template <class T>
struct sum_with_error {
  T sum;
  T error;
};

/// a + b, and exactly what rounding took from it (Knuth).
template <class T>
TILEFOLD_HD sum_with_error<T> two_sum(T a, T b) {
  const T sum = rounded_sum(a, b);
  const T b_in_it = rounded_sum(sum, -a);
  const T a_in_it = rounded_sum(sum, -b_in_it);
  return {sum, rounded_sum(rounded_sum(a, -a_in_it), rounded_sum(b, -b_in_it))};
}

/// a * b, and exactly what rounding took from it, unless that is too small for the type.
TILEFOLD_HD inline sum_with_error<double> two_product(double a, double b) {
  const double product = rounded_product(a, b);
  return {product, fused_sum(a, b, -product)};
}
TILEFOLD_HD inline sum_with_error<float> two_product(float a, float b) {
  const double exact = rounded_product(static_cast<double>(a), static_cast<double>(b));
  const auto product = static_cast<float>(exact);
  return {product, static_cast<float>(rounded_sum(exact, -static_cast<double>(product)))};
}

struct compensated_reducer : empty_reducer {
  template <class T>
  TILEFOLD_HD sum_with_error<T> combine(const sum_with_error<T>& a,
                                        const sum_with_error<T>& b) const {
    const auto joined = detail::two_sum(a.sum, b.sum);
    return {joined.sum, rounded_sum(rounded_sum(a.error, b.error), joined.error)};
  }
  template <class T>
  TILEFOLD_HD T project(const sum_with_error<T>& s) const {
    // Infinities have no error: the difference of two of them is not one. Nor has -0.
    const bool has_error = rounded_sum(s.sum, -s.sum) == T{0} && s.error != T{0};
    return detail::canonical(has_error ? rounded_sum(s.sum, s.error) : s.sum);
  }
  template <class Acc>
  TILEFOLD_HD Acc identity() const {
    using T = decltype(Acc::sum);
    return {-T{0}, T{0}};
  }
};

}  // namespace tilefold::detail

namespace tilefold::reducers {

/// The sum in about twice the precision: with d = ceil(log2 n), to first order
/// |error| <= u |sum| + d^2 u^2 sum|x|, u = 2^-24 or 2^-53. float (also for narrower types) or
/// double; integers need none, their sums are exact. Two numbers an accumulator. If the sum
/// overflows on the way the result is an infinity or NaN, as that of sum. Empty: -0.0.
struct compensated_sum : detail::compensated_reducer {
  template <class T>
    requires(std::same_as<detail::widened_t<T>, float> || std::same_as<T, double>)
  TILEFOLD_HD detail::sum_with_error<detail::widened_t<T>> lift(const T& value) const {
    return {detail::convert<detail::widened_t<T>>(value), detail::widened_t<T>{0}};
  }
};

/// The dot product of two ranges as if computed in twice the precision; floats (and narrower types)
/// in float, as soon as one is double in double. Products below 2^-969 (float: 2^-102) lose what a
/// subnormal cannot hold.
struct compensated_dot : detail::compensated_reducer {
  template <class X, class Y>
    requires(std::same_as<typename detail::meeting<X, Y>::type, float> ||
             std::same_as<typename detail::meeting<X, Y>::type, double>)
  TILEFOLD_HD detail::sum_with_error<typename detail::meeting<X, Y>::type> lift(const X& x,
                                                                                const Y& y) const {
    using common = typename detail::meeting<X, Y>::type;
    return detail::two_product(detail::convert<common>(x), detail::convert<common>(y));
  }
};

}  // namespace tilefold::reducers

namespace tilefold::detail {

template <>
struct ways<reducers::compensated_sum> : commutative_ways {};
template <>
struct ways<reducers::compensated_dot> : commutative_ways {};

}  // namespace tilefold::detail
