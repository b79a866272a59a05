// SPDX-License-Identifier: Apache-2.0
//
// Reducers with exponentials and logarithms: logsumexp, softmax's pair, geometric and harmonic
// mean. In double, with the library's own exp and log (detail/real_math.hpp), so that host and
// device agree to the bit.
#pragma once

#include <tilefold/config.hpp>
#include <tilefold/detail/real_math.hpp>
#include <tilefold/op.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold {

namespace reducers {

/// What softmax needs: softmax(x)[i] = exp(x[i] - max) / sum.
struct max_and_sum {
  double max;
  double sum;  // of exp(x - max)
};

}  // namespace reducers

namespace detail {

struct exponential_sum {
  using reducer_concept = reducer_tag;
  static constexpr bool long_combine = true;
  static constexpr bool commutative = true;
  static constexpr bool separately_rounded = true;

  template <class T>
  TILEFOLD_HD reducers::max_and_sum lift(const T& value) const {
    // One zero, so that operands can be swapped.
    const double x = rounded_sum(detail::convert<double>(value), 0.0);
    return {x, x == x ? 1.0 : nan<double>};
  }
  TILEFOLD_HD reducers::max_and_sum combine(const reducers::max_and_sum& a,
                                            const reducers::max_and_sum& b) const {
    const bool swap = !(a.max > b.max);
    const double high = swap ? b.max : a.max;
    const double low = swap ? a.max : b.max;
    // Two equal infinities differ by NaN.
    const double gap = a.max == b.max ? 0.0 : rounded_sum(low, -high);
    const double shrunk = rounded_product(swap ? a.sum : b.sum, detail::falling_exponential(gap));
    return {high, rounded_sum(swap ? b.sum : a.sum, shrunk)};
  }
  template <class Acc>
  TILEFOLD_HD Acc identity() const {
    return {-infinity<double>, 0.0};
  }
};

/// A sum of what each element is turned into, and how many.
struct transformed_mean_state {
  double count;
  double sum;
};

struct transformed_mean {
  using reducer_concept = reducer_tag;
  static constexpr bool commutative = true;
  static constexpr bool separately_rounded = true;

  TILEFOLD_HD transformed_mean_state combine(const transformed_mean_state& a,
                                             const transformed_mean_state& b) const {
    return {rounded_sum(a.count, b.count), rounded_sum(a.sum, b.sum)};
  }
};

}  // namespace detail

namespace reducers {

/// log(sum exp(x)) without overflow, in double. With d = ceil(log2 n) the error is at most about
/// 4 d u, u = 2^-53, plus one rounding of the result. NaN if an element is; infinite elements count
/// as such. Empty: -infinity.
struct logsumexp : detail::exponential_sum {
  TILEFOLD_HD double project(const max_and_sum& s) const {
    return detail::canonical(detail::rounded_sum(s.max, detail::logarithm(s.sum)));
  }
};

/// softmax's pair: the maximum, and the sum of exp(x - maximum) to the same relative error.
/// Empty: -infinity and 0.
struct softmax_pair : detail::exponential_sum {
  TILEFOLD_HD max_and_sum project(const max_and_sum& s) const {
    const double sum = detail::canonical(s.sum);
    // The greatest of numbers with a NaN is NaN.
    return {sum != sum ? sum : s.max, sum};
  }
};

/// exp(mean(log x)), in double: 0 if an element is 0, NaN if one is negative. Empty: an error.
struct geometric_mean : detail::transformed_mean {
  template <class T>
  TILEFOLD_HD detail::transformed_mean_state lift(const T& value) const {
    return {1.0, detail::logarithm(detail::convert<double>(value))};
  }
  TILEFOLD_HD double project(const detail::transformed_mean_state& s) const {
    return detail::canonical(detail::exponential(detail::rounded_quotient(s.sum, s.count)));
  }
};

/// n / sum(1 / x), in double. Empty: an error.
struct harmonic_mean : detail::transformed_mean {
  template <class T>
  TILEFOLD_HD detail::transformed_mean_state lift(const T& value) const {
    return {1.0, detail::rounded_quotient(1.0, detail::convert<double>(value))};
  }
  TILEFOLD_HD double project(const detail::transformed_mean_state& s) const {
    return detail::canonical(detail::rounded_quotient(s.count, s.sum));
  }
};

}  // namespace reducers

}  // namespace tilefold
