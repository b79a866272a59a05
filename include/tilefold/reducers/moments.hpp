// SPDX-License-Identifier: Apache-2.0
//
// Means, variances and higher moments; covariance and correlation of two ranges. Elements are real
// numbers of any type, converted to double; everything is computed and returned in double, each
// operation rounded once. No sum of squares is ever subtracted from another: what two nodes of the
// tree know of their spread is merged by the update of Chan, Golub and LeVeque ("Updating formulae
// and a pairwise algorithm for computing sample variances", 1979).
//
// A NaN or an infinity among the elements makes the result NaN (a mean may be infinite). Sums of
// doubles may leave the range of a double where means and variances do not; those of products
// (weighted_mean, covariance, correlation) must stay finite. An empty range has no mean:
// empty_range_error.
#pragma once

#include <concepts>
#include <cstdint>

#include <tilefold/detail/core/block_claims.hpp>
#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/real_math.hpp>
#include <tilefold/op.hpp>
#include <tilefold/reducer.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/cuda/fold/mean_sums.cuh>
#endif

TILEFOLD_WARNINGS_OFF

namespace tilefold {

/// What a sum of squared deviations is divided by: the number of elements, or one less, which
/// makes an unbiased estimate of a population's variance from a sample of it.
enum class divisor { population, sample };

namespace detail {

/// How many elements two nodes have together; exact up to 2^53. A plain sum: nothing is multiplied
/// before, and a compiler knows what it is where it knows how many there are.
TILEFOLD_HD inline double count_of_both(double a, double b) { return a + b; }

/// x - x for a value that converts to the double x: 0, or NaN of an infinity or a NaN.
template <class T>
TILEFOLD_HD double difference_from_itself(const T& value) {
  if constexpr (integer<T>) {
    return 0.0;
  } else {
#if defined(__CUDA_ARCH__)
    if constexpr (std::same_as<T, float> || is_narrow_float<T>) {
      // As a float's bits: +0 is the upper half of +0, and a NaN that of a NaN. Doubles are rarer.
      const auto x = static_cast<float>(value);
      const std::uint64_t upper = __builtin_bit_cast(std::uint32_t, rounded_sum(x, -x));
      return __builtin_bit_cast(double, upper << 32);
    }
#endif
    const auto x = detail::convert<double>(value);
    return rounded_sum(x, -x);
  }
}

/// A number and a sum. The number is exact up to 2^53.
struct mean_state {
  double count;
  double sum;
};

/// A state of doubles, whose sum may leave the range of a double. There the sum is in units of 2^64
/// and the count negative, so that all sums are rounded as if exponents had no upper end.
template <class State>
struct wide : State {};

/// The state of elements T.
template <class State, class T>
using state_for = std::conditional_t<integer<T> || narrower_than_double<T>, State, wide<State>>;

// By integers, which every processor has plenty of.
TILEFOLD_HD inline bool is_finite(double x) {
  const std::uint64_t exponent = 0x7ff0000000000000;
  return (__builtin_bit_cast(std::uint64_t, x) & exponent) != exponent;
}
TILEFOLD_HD inline bool are_positive(double x, double y) {
  return (__builtin_bit_cast(std::int64_t, x) | __builtin_bit_cast(std::int64_t, y)) >= 0;
}

/// Whether a sum in units of 2^64 is out of the range of a double.
TILEFOLD_HD inline bool is_far(double sum) {
  return magnitude(sum) >= 0x1p960 && detail::is_finite(sum);
}

template <class State>
TILEFOLD_HD State in_units(const wide<State>& node) {
  State scaled = node;
  scaled.count = magnitude(node.count);
  if (node.count > 0) scaled.sum = rounded_product(node.sum, 0x1p-64);
  return scaled;
}

/// What joins plain states joins wide ones. The squares that a variance adds for a sum out of range
/// are 0 or infinite, in whatever units: doubles of that size which differ, differ by 2^850.
template <class R, class State>
TILEFOLD_HD wide<State> combine_wide(const R& r, const wide<State>& a, const wide<State>& b) {
  if (detail::are_positive(a.count, b.count) && detail::is_finite(rounded_sum(a.sum, b.sum)))
      [[likely]] {
    return {r.combine(static_cast<const State&>(a), static_cast<const State&>(b))};
  }
  wide<State> node{r.combine(detail::in_units(a), detail::in_units(b))};
  if (detail::is_far(node.sum)) {
    node.count = -node.count;
  } else {
    node.sum = rounded_product(node.sum, 0x1p64);
  }
  return node;
}

template <class State>
TILEFOLD_HD double mean_of(const State& node) {
  return rounded_quotient(node.sum, node.count);
}
template <class State>
TILEFOLD_HD double mean_of(const wide<State>& node) {
  if (node.count > 0) [[likely]] {
    return rounded_quotient(node.sum, node.count);
  }
  // A mean of finite numbers is finite, though their sum be rounded up.
  const double most = 0x1.fffffffffffffp959;
  const double mean = rounded_quotient(node.sum, -node.count);
  return rounded_product(mean > most ? most : mean < -most ? -most : mean, 0x1p64);
}

/// How the distance of two neighbouring nodes counts among their elements' deviations:
/// (distance in x) (distance in y) weight.
struct node_gap {
  double left_count;
  double right_count;
  double weight;
  bool even;

  TILEFOLD_HD double distance(double left_sum, double right_sum) const {
    if (even) return rounded_sum(right_sum, -left_sum);
    return rounded_sum(rounded_quotient(right_sum, right_count),
                       -rounded_quotient(left_sum, left_count));
  }
};

/// The weight between two nodes of `count` elements each, a power of two: 1 / (2 count).
TILEFOLD_HD inline double weight_of_equals(double count) {
  // 2^k has the exponent 1023 + k, and 2^(-k-1) has 1022 - k.
  return __builtin_bit_cast(double,
                            (std::int64_t{2045} << 52) - __builtin_bit_cast(std::int64_t, count));
}

/// Nearly all nodes of the tree stand next to one of as many elements, n, a power of two; there the
/// distance is that of the sums, the weight 1 / 2n, and nothing is divided. Else it is the distance
/// of the means, and n1 n2 / (n1 + n2).
TILEFOLD_HD inline node_gap gap_between(double left_count, double right_count) {
  const auto bits = __builtin_bit_cast(std::int64_t, left_count);
  const std::int64_t significand = (std::int64_t{1} << 52) - 1;
  if (left_count == right_count && (bits & significand) == 0) {
    return {left_count, right_count, detail::weight_of_equals(left_count), true};
  }
  const double share =
      rounded_quotient(right_count, detail::count_of_both(left_count, right_count));
  return {left_count, right_count, rounded_product(left_count, share), false};
}

TILEFOLD_HD inline double spread(double left, double right, double gap_x, double gap_y,
                                 double weight) {
  return rounded_sum(rounded_sum(left, right),
                     rounded_product(rounded_product(gap_x, weight), gap_y));
}

TILEFOLD_HD inline double divided(double deviations, double count, divisor by) {
  return rounded_quotient(deviations, by == divisor::population ? count : rounded_sum(count, -1.0));
}

struct variance_state {
  double count;
  double sum;
  double deviations;  // the sum of squared deviations from the mean
};

TILEFOLD_HD inline double variance_of(const variance_state& node, divisor by) {
  return detail::divided(node.deviations, node.count, by);
}
TILEFOLD_HD inline double variance_of(const wide<variance_state>& node, divisor by) {
  return detail::divided(node.deviations, magnitude(node.count), by);
}

template <class State>
concept keeps_variance = std::derived_from<State, variance_state>;

struct variance_base {
  using reducer_concept = reducer_tag;

  divisor by = divisor::sample;

  variance_base() = default;
  TILEFOLD_HD explicit variance_base(divisor d) : by(d) {}
  template <converts_to_double T>
  TILEFOLD_HD state_for<variance_state, T> lift(const T& value) const {
    const auto x = detail::convert<double>(value);
    // Not 0: what an infinity or a NaN deviates is NaN.
    return {1.0, x, detail::difference_from_itself(value)};
  }
  TILEFOLD_HD variance_state combine(const variance_state& a, const variance_state& b) const {
    const node_gap gap = detail::gap_between(a.count, b.count);
    const double difference = gap.distance(a.sum, b.sum);
    return {detail::count_of_both(a.count, b.count), rounded_sum(a.sum, b.sum),
            detail::spread(a.deviations, b.deviations, difference, difference, gap.weight)};
  }
  TILEFOLD_HD wide<variance_state> combine(const wide<variance_state>& a,
                                           const wide<variance_state>& b) const {
    return detail::combine_wide(*this, a, b);
  }
};

/// Central moments: sums of the 2nd, 3rd and 4th powers of deviations from the mean.
struct shape_state {
  double count;
  double mean;
  double second;
  double third;
  double fourth;
};

/// Terriberry's and Pebay's extension of the update to higher powers ("Formulas for robust,
/// one-pass parallel computation of covariances and arbitrary-order statistical moments", 2008).
struct shape_base : empty_reducer {
  template <converts_to_double T>
  TILEFOLD_HD shape_state lift(const T& value) const {
    const auto x = detail::convert<double>(value);
    const double zero = detail::difference_from_itself(value);
    return {1.0, x, zero, zero, zero};
  }
  TILEFOLD_HD shape_state combine(const shape_state& a, const shape_state& b) const {
    const double n = detail::count_of_both(a.count, b.count);
    const double p = rounded_quotient(a.count, n);
    const double q = rounded_quotient(b.count, n);
    const double d = rounded_sum(b.mean, -a.mean);
    const double d2 = rounded_product(d, d);
    const double w = rounded_product(a.count, q);  // n p q
    const double skew = rounded_sum(p, -q);
    // p^2 b + q^2 a and p b - q a, of the second and third sums.
    const double second_sum = rounded_sum(rounded_product(rounded_product(q, q), a.second),
                                          rounded_product(rounded_product(p, p), b.second));
    const double second_gap =
        rounded_sum(rounded_product(p, b.second), -rounded_product(q, a.second));
    const double third_gap = rounded_sum(rounded_product(p, b.third), -rounded_product(q, a.third));
    const double pq = rounded_product(p, q);
    const double mixed = rounded_sum(1.0, -rounded_product(3.0, pq));  // p^2 - p q + q^2
    const double second =
        rounded_sum(rounded_sum(a.second, b.second), rounded_product(rounded_product(d, w), d));
    const double third =
        rounded_sum(rounded_sum(a.third, b.third),
                    rounded_product(d, rounded_sum(rounded_product(rounded_product(d2, w), skew),
                                                   rounded_product(3.0, second_gap))));
    const double fourth = rounded_sum(
        rounded_sum(a.fourth, b.fourth),
        rounded_sum(rounded_product(d2, rounded_sum(rounded_product(rounded_product(d2, w), mixed),
                                                    rounded_product(6.0, second_sum))),
                    rounded_product(d, rounded_product(4.0, third_gap))));
    return {n, rounded_sum(a.mean, rounded_product(d, q)), second, third, fourth};
  }
};

/// Two ranges: sums, and sums of products of deviations.
struct covariance_state {
  double count;
  double sum_x;
  double sum_y;
  double xx;
  double yy;
  double xy;
};

struct covariance_base : empty_reducer {
  template <converts_to_double X, converts_to_double Y>
  TILEFOLD_HD covariance_state lift(const X& first, const Y& second) const {
    const auto x = detail::convert<double>(first);
    const auto y = detail::convert<double>(second);
    const double zero_x = detail::difference_from_itself(first);
    const double zero_y = detail::difference_from_itself(second);
    return {1.0, x, y, zero_x, zero_y, rounded_sum(zero_x, zero_y)};
  }
  TILEFOLD_HD covariance_state combine(const covariance_state& a, const covariance_state& b) const {
    const node_gap gap = detail::gap_between(a.count, b.count);
    const double dx = gap.distance(a.sum_x, b.sum_x);
    const double dy = gap.distance(a.sum_y, b.sum_y);
    return {detail::count_of_both(a.count, b.count),
            rounded_sum(a.sum_x, b.sum_x),
            rounded_sum(a.sum_y, b.sum_y),
            detail::spread(a.xx, b.xx, dx, dx, gap.weight),
            detail::spread(a.yy, b.yy, dy, dy, gap.weight),
            detail::spread(a.xy, b.xy, dx, dy, gap.weight)};
  }
};

}  // namespace detail

namespace reducers {

/// The arithmetic mean: a pairwise sum divided by the number of elements. To first order
/// |error| <= (ceil(log2 n) + 1) u mean|x|, u = 2^-53. That of finite elements is finite.
struct mean : detail::empty_reducer {
  template <detail::converts_to_double T>
  TILEFOLD_HD detail::state_for<detail::mean_state, T> lift(const T& value) const {
    return {1.0, detail::convert<double>(value)};
  }
  TILEFOLD_HD detail::mean_state combine(const detail::mean_state& a,
                                         const detail::mean_state& b) const {
    return {detail::count_of_both(a.count, b.count), detail::rounded_sum(a.sum, b.sum)};
  }
  TILEFOLD_HD detail::wide<detail::mean_state> combine(
      const detail::wide<detail::mean_state>& a, const detail::wide<detail::mean_state>& b) const {
    return detail::combine_wide(*this, a, b);
  }
  // Also of a variance's state (fuse.hpp).
  template <class State>
    requires requires(const State& s) { s.sum / s.count; }
  TILEFOLD_HD double project(const State& state) const {
    return detail::canonical(detail::mean_of(state));
  }
};

/// The variance; of one element 0 (population) or NaN (sample, the default). With the condition
/// number k = sqrt(1 + mean^2 / variance) its relative error is about ceil(log2 n) u k at worst.
struct variance : detail::variance_base {
  using variance_base::variance_base;
  template <detail::keeps_variance State>
  TILEFOLD_HD double project(const State& state) const {
    return detail::canonical(detail::variance_of(state, by));
  }
};

/// The square root of the variance.
struct standard_deviation : detail::variance_base {
  using variance_base::variance_base;
  template <detail::keeps_variance State>
  TILEFOLD_HD double project(const State& state) const {
    return detail::canonical(detail::rounded_sqrt(detail::variance_of(state, by)));
  }
};

/// What mean_variance gives.
struct mean_and_variance {
  double mean;
  double variance;
};

/// Mean and variance from one accumulator.
struct mean_variance : detail::variance_base {
  using variance_base::variance_base;
  template <detail::keeps_variance State>
  TILEFOLD_HD mean_and_variance project(const State& state) const {
    return {detail::canonical(detail::mean_of(state)),
            detail::canonical(detail::variance_of(state, by))};
  }
};

/// The population's skewness m3 / m2^(3/2), with mk the mean k-th power of deviations from the
/// mean. NaN if all elements are equal.
struct skewness : detail::shape_base {
  TILEFOLD_HD double project(const detail::shape_state& s) const {
    const double scale = detail::rounded_product(s.second, detail::rounded_sqrt(s.second));
    return detail::canonical(detail::rounded_quotient(
        detail::rounded_product(detail::rounded_sqrt(s.count), s.third), scale));
  }
};

/// The population's excess kurtosis m4 / m2^2 - 3, as skewness; 0 for a normal distribution.
struct kurtosis : detail::shape_base {
  TILEFOLD_HD double project(const detail::shape_state& s) const {
    const double scale = detail::rounded_product(s.second, s.second);
    return detail::canonical(detail::rounded_sum(
        detail::rounded_quotient(detail::rounded_product(s.count, s.fourth), scale), -3.0));
  }
};

/// The mean of the first range weighted by the second: sum(w x) / sum(w). NaN if the weights add up
/// to nothing.
struct weighted_mean : detail::empty_reducer {
  template <detail::converts_to_double X, detail::converts_to_double W>
  TILEFOLD_HD detail::mean_state lift(const X& value, const W& weight) const {
    const auto w = detail::convert<double>(weight);
    return {w, detail::rounded_product(w, detail::convert<double>(value))};
  }
  TILEFOLD_HD detail::mean_state combine(const detail::mean_state& a,
                                         const detail::mean_state& b) const {
    return {detail::rounded_sum(a.count, b.count), detail::rounded_sum(a.sum, b.sum)};
  }
  TILEFOLD_HD double project(const detail::mean_state& state) const {
    return detail::canonical(detail::rounded_quotient(state.sum, state.count));
  }
};

/// The covariance of two ranges; of one element 0 (population) or NaN (sample, the default).
struct covariance : detail::covariance_base {
  divisor by = divisor::sample;

  covariance() = default;
  TILEFOLD_HD explicit covariance(divisor d) : by(d) {}
  TILEFOLD_HD double project(const detail::covariance_state& state) const {
    return detail::canonical(detail::divided(state.xy, state.count, by));
  }
};

/// Pearson's correlation of two ranges, within rounding between -1 and 1; NaN if either range is
/// constant.
struct correlation : detail::covariance_base {
  TILEFOLD_HD double project(const detail::covariance_state& state) const {
    const double scale = detail::root_of_product(state.xx, state.yy);
    return detail::canonical(detail::rounded_quotient(state.xy, scale));
  }
};

}  // namespace reducers

namespace detail {

template <class State>
struct block_claims<wide<State>> {
  static bool hold(const wide<State>& acc, std::int64_t begin, std::int64_t end) {
    return magnitude(acc.count) == static_cast<double>(end - begin) &&
           (acc.count > 0 || detail::is_far(acc.sum));
  }
};
template <>
struct block_claims<mean_state> : counted_claims {};
template <>
struct block_claims<variance_state> : counted_claims {};
template <>
struct block_claims<shape_state> : counted_claims {};

struct wide_ways {
  template <class State>
  TILEFOLD_HD static bool is_in_range(const wide<State>& node) {
    return detail::is_finite(node.sum);
  }
};

template <>
struct ways<reducers::mean> : commutative_ways, wide_ways {
  static constexpr block_statistic statistic = block_statistic::mean;

  TILEFOLD_HD static wide<mean_state> combine_in_range(const reducers::mean& r,
                                                       const wide<mean_state>& a,
                                                       const wide<mean_state>& b) {
    return {r.combine(static_cast<const mean_state&>(a), static_cast<const mean_state&>(b))};
  }
};

struct variance_ways : wide_ways, separately_rounded_ways {
  static constexpr block_statistic statistic = block_statistic::moments;
  // Distances change their sign, which squares do not see.
  static constexpr bool commutative_among_equals = true;

  template <class R>
  TILEFOLD_HD static variance_state combine_equals(const R&, const variance_state& a,
                                                   const variance_state& b) {
    return node_of_equals(a, b);
  }
  template <class R>
  TILEFOLD_HD static wide<variance_state> combine_equals(const R&, const wide<variance_state>& a,
                                                         const wide<variance_state>& b) {
    return detail::combine_wide(equals{}, a, b);
  }
  template <class R>
  TILEFOLD_HD static wide<variance_state> combine_in_range(const R&, const wide<variance_state>& a,
                                                           const wide<variance_state>& b) {
    return {variance_base().combine(static_cast<const variance_state&>(a),
                                    static_cast<const variance_state&>(b))};
  }
  // Finite elements deviate by nothing from themselves, so that a pair's deviations are one
  // product. That all of a packet are finite shows in their sum.
  template <class R, class T, int N>
    requires narrower_than_double<T>
  TILEFOLD_HD static variance_state lift_packet(const R&, const T (&values)[N]) {
    variance_state node = finite_node<0, N>(values);
    if constexpr (!integer<T>) {
      const double zero = rounded_sum(node.sum, -node.sum);
      if (zero != zero) node.deviations = zero;
    }
    return node;
  }

 private:
  struct equals {
    TILEFOLD_HD variance_state combine(const variance_state& a, const variance_state& b) const {
      return node_of_equals(a, b);
    }
  };
  TILEFOLD_HD static variance_state node_of_equals(const variance_state& a,
                                                   const variance_state& b) {
    const double difference = rounded_sum(b.sum, -a.sum);
    return {detail::count_of_both(a.count, a.count), rounded_sum(a.sum, b.sum),
            detail::spread(a.deviations, b.deviations, difference, difference,
                           detail::weight_of_equals(a.count))};
  }
  template <int Begin, int Count, class T, int N>
  TILEFOLD_HD static variance_state finite_node(const T (&values)[N]) {
    if constexpr (Count == 2) {
      const auto a = detail::convert<double>(values[Begin]);
      const auto b = detail::convert<double>(values[Begin + 1]);
      const double difference = rounded_sum(b, -a);
      return {2.0, rounded_sum(a, b),
              rounded_product(rounded_product(difference, 0.5), difference)};
    } else {
      return node_of_equals(finite_node<Begin, Count / 2>(values),
                            finite_node<Begin + Count / 2, Count / 2>(values));
    }
  }
};
template <class R>
  requires one_of<R, reducers::variance, reducers::standard_deviation, reducers::mean_variance>
struct ways<R> : variance_ways {};

template <>
struct ways<reducers::skewness> : separately_rounded_ways {};
template <>
struct ways<reducers::kurtosis> : separately_rounded_ways {};

template <>
struct ways<reducers::weighted_mean> : commutative_ways {};

struct covariance_ways : separately_rounded_ways {
  // A product of which one factor is 0 changes its sign with the other; but no xy is -0, and what
  // is added to others does not see it.
  static constexpr bool commutative_among_equals = true;

  template <class R>
  TILEFOLD_HD static covariance_state combine_equals(const R&, const covariance_state& a,
                                                     const covariance_state& b) {
    const double weight = detail::weight_of_equals(a.count);
    const double dx = rounded_sum(b.sum_x, -a.sum_x);
    const double dy = rounded_sum(b.sum_y, -a.sum_y);
    return {detail::count_of_both(a.count, a.count),
            rounded_sum(a.sum_x, b.sum_x),
            rounded_sum(a.sum_y, b.sum_y),
            detail::spread(a.xx, b.xx, dx, dx, weight),
            detail::spread(a.yy, b.yy, dy, dy, weight),
            detail::spread(a.xy, b.xy, dx, dy, weight)};
  }
};
template <>
struct ways<reducers::covariance> : covariance_ways {};
template <>
struct ways<reducers::correlation> : covariance_ways {};

}  // namespace detail

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
