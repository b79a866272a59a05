// SPDX-License-Identifier: Apache-2.0
//
// Reducers with exponentials and logarithms: logsumexp, softmax's pair, geometric and harmonic
// mean. In double, with the library's own exp and log (detail/core/real_math.hpp, and for floats
// detail/core/narrow_exponential.hpp), so that host and device agree to the bit.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tilefold/detail/core/block_claims.hpp>
#include <tilefold/detail/core/narrow_exponential.hpp>
#include <tilefold/detail/core/real_math.hpp>
#include <tilefold/detail/core/reducer_shortcuts.hpp>
#include <tilefold/op.hpp>
#include <tilefold/reducer.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::reducers {

/// What softmax needs: softmax(x)[i] = exp(x[i] - max) / sum.
struct max_and_sum {
  double max;
  double sum;  // of exp(x - max)
};

}  // namespace tilefold::reducers

namespace tilefold::detail {

/// Of narrow floats: the greatest, and the sum of all exponentials in units of 2^exponent, which is
/// that of the greatest one's.
struct scaled_sum {
  float max;
  std::int32_t exponent;
  double sum;
};

/// The difference of two exponents does not overflow.
template <>
struct block_claims<scaled_sum> {
  static bool hold(const scaled_sum& acc, std::int64_t, std::int64_t) {
    constexpr std::int32_t most = 1 << 30;
    return -most <= acc.exponent && acc.exponent <= most;
  }
};

/// Elements that are exact in float are lifted to their exponentials, and a node is a sum of those:
/// an addition of doubles, rounded as if their exponents had no bounds. Other elements are lifted
/// to themselves; a node takes the exponential of the difference of its operands' maxima.
struct exponential_sum : empty_reducer {
  template <exact_in_float T>
  TILEFOLD_HD scaled_sum lift(const T& value) const {
    // One zero, so that operands can be swapped.
    const float x = rounded_sum(detail::convert<float>(value), 0.0f);
    const split_power e = detail::split_exponential(x);
    const double factor = rounded_sum(1.0, static_cast<double>(e.fraction));
    return {x, e.exponent, x == x ? factor : nan<double>};
  }
  TILEFOLD_HD scaled_sum combine(const scaled_sum& a, const scaled_sum& b) const {
    const float max = a.max > b.max ? a.max : b.max;
    const std::int32_t exponent = a.exponent > b.exponent ? a.exponent : b.exponent;
    const double of_a = scaled(a, max, exponent);
    return {max, exponent, rounded_sum(of_a, scaled(b, max, exponent))};
  }

  template <class T>
    requires(!exact_in_float<T> && converts_to_double<T>)
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
    if constexpr (std::same_as<Acc, scaled_sum>) {
      return {-infinity<float>, -far_exponent, 0.0};
    } else {
      return {-infinity<double>, 0.0};
    }
  }

 protected:
  /// The maximum, and the sum of exp(x - maximum).
  TILEFOLD_HD static reducers::max_and_sum related_to_max(const reducers::max_and_sum& s) {
    return s;
  }
  TILEFOLD_HD static reducers::max_and_sum related_to_max(const scaled_sum& s) {
    return {static_cast<double>(s.max),
            detail::rounded_quotient(s.sum, exponential_sum{}.lift(s.max).sum)};
  }

 private:
  // a's sum in units of 2^exponent; one that must vanish beside another need not be zero.
  TILEFOLD_HD static double scaled(const scaled_sum& a, float max, std::int32_t exponent) {
    const std::int32_t least = -1000;
    const bool far = (a.max < max) & (magnitude(a.max) >= far_away);
    const std::int32_t lower = far ? least : a.exponent - exponent;
    return rounded_product(a.sum, detail::power_of_two(lower > least ? lower : least));
  }
};

/// A sum of what each element is turned into, and how many.
struct transformed_mean_state {
  double count;
  double sum;
};

template <>
struct block_claims<transformed_mean_state> : counted_claims {};

struct transformed_mean : empty_reducer {
  TILEFOLD_HD transformed_mean_state combine(const transformed_mean_state& a,
                                             const transformed_mean_state& b) const {
    return {rounded_sum(a.count, b.count), rounded_sum(a.sum, b.sum)};
  }
};

}  // namespace tilefold::detail

namespace tilefold::reducers {

/// log(sum exp(x)) without overflow, as a double. With d = ceil(log2 n) the error is at most about
/// 4 d u, u = 2^-53, plus one rounding of the result. Of float, half, bfloat16 and fp8 it is up to
/// 2^-24 + (d + 1) 2^-29 more, in most sums 2^-26, for their exponentials have a float's precision;
/// of one element it is the element (of -0: 0), of equal ones it is exact but for the logarithm.
/// From 2^29 on only the greatest narrow floats count: others are 32 or more below. NaN if an
/// element is; infinite elements count as such. Empty: -infinity.
struct logsumexp : detail::exponential_sum {
  template <class Acc>
  TILEFOLD_HD double project(const Acc& acc) const {
    const max_and_sum s = related_to_max(acc);
    return detail::canonical(detail::rounded_sum(s.max, detail::logarithm(s.sum)));
  }
};

/// softmax's pair: the maximum, and the sum of exp(x - maximum) to the same relative error.
/// Empty: -infinity and 0.
struct softmax_pair : detail::exponential_sum {
  template <class Acc>
  TILEFOLD_HD max_and_sum project(const Acc& acc) const {
    const max_and_sum s = related_to_max(acc);
    const double sum = detail::canonical(s.sum);
    // The greatest of numbers with a NaN is NaN.
    return {sum != sum ? sum : s.max, sum};
  }
};

/// exp(mean(log x)), in double: 0 if an element is 0, NaN if one is negative. Empty: an error.
struct geometric_mean : detail::transformed_mean {
  template <detail::converts_to_double T>
  TILEFOLD_HD detail::transformed_mean_state lift(const T& value) const {
    return {1.0, detail::logarithm(detail::convert<double>(value))};
  }
  TILEFOLD_HD double project(const detail::transformed_mean_state& s) const {
    return detail::canonical(detail::exponential(detail::rounded_quotient(s.sum, s.count)));
  }
};

/// n / sum(1 / x), in double. Empty: an error.
struct harmonic_mean : detail::transformed_mean {
  template <detail::converts_to_double T>
  TILEFOLD_HD detail::transformed_mean_state lift(const T& value) const {
    return {1.0, detail::rounded_quotient(1.0, detail::convert<double>(value))};
  }
  TILEFOLD_HD double project(const detail::transformed_mean_state& s) const {
    return detail::canonical(detail::rounded_quotient(s.count, s.sum));
  }
};

}  // namespace tilefold::reducers

namespace tilefold::detail {

struct exponential_ways : commutative_ways {
  /// A node of up to 2^14 elements of which the greatest is `max` can be a tree of plain doubles in
  /// units of 2^(exponent of max), if is_near(max), for the reason that lift_packet() gives: 2^861
  /// is B(14). -infinity may stand where an element is missing.
  struct near {
    TILEFOLD_HD static bool is_near(float max) { return magnitude(max) <= 0x1p16f; }
    TILEFOLD_HD static std::int32_t exponent(float max) {
      return detail::reduce_near(max).exponent;
    }
    /// Of numbers; of N a power of two.
    template <int N>
    TILEFOLD_HD static float greatest(const float (&x)[N]) {
      return exponential_ways::greatest<0, N>(x);
    }
    template <int N>
    TILEFOLD_HD static double sum(const float (&x)[N], float max, std::int32_t exponent) {
      return detail::sum_of_exponentials(x, max, exponent);
    }
    TILEFOLD_HD static scaled_sum node(float max, std::int32_t exponent, double sum) {
      return {rounded_sum(max, 0.0f), exponent, sum};
    }
  };

  template <class Acc>
  static constexpr bool long_combine = std::is_same_v<Acc, reducers::max_and_sum>;

  // Usually a tree of plain doubles, whose exponents have room for it. What is more than 600 below
  // the maximum is taken for that much below, which is 2^-865 times as much; neither is seen. For
  // let a node of 2^h elements be the same either way if its greatest term is at least B(h): B(0)
  // is the term of max - 600. Of the node above, one half has the greatest term. The other one is
  // the same, too, or all its terms are below B(h), and it is lost in the rounding if the greatest
  // is 2^(55 + h) B(h) or more. So B(4) = 2^226 B(0) will do.
  template <class R, exact_in_float T, int N>
  TILEFOLD_HD static scaled_sum lift_packet(const R&, const T (&values)[N]) {
    float x[N];
    TILEFOLD_UNROLL()
    for (int i = 0; i < N; ++i) x[i] = detail::convert<float>(values[i]);
    const float max = greatest<0, N>(x);
    if (magnitude(max) <= 0x1p16f) {
      const std::int32_t exponent = detail::reduce_near(max).exponent;
      const double sum = detail::sum_of_exponentials(x, max, exponent);
      if (exponential_ways::is_number(sum)) return {rounded_sum(max, 0.0f), exponent, sum};
    }
    return lift_unusual(x, max);
  }

 private:
  // What is left: all masked; or infinities, NaNs, and numbers far away, in as little code as can
  // be.
  template <int N>
  TILEFOLD_HD static scaled_sum lift_unusual(const float (&x)[N], float max) {
    bool masked = max == -infinity<float>;
    TILEFOLD_UNROLL()
    for (int i = 0; i < N; ++i) masked = masked & (x[i] == max);
    if (masked) return {max, -far_exponent, double{N}};
    const exponential_sum terms{};
    scaled_sum nodes[N];
    TILEFOLD_UNROLL()
    for (int i = 0; i < N; ++i) nodes[i].max = x[i];
    TILEFOLD_UNROLL(1)
    for (int i = 0; i < N; ++i) nodes[i] = terms.lift(nodes[i].max);
    TILEFOLD_UNROLL(1)
    for (int step = 1; step < N; step *= 2) {
      TILEFOLD_UNROLL(1)
      for (int i = 0; i < N; i += 2 * step) nodes[i] = terms.combine(nodes[i], nodes[i + step]);
    }
    return nodes[0];
  }

  // A device knows by the maximum, and need not keep the elements until the sum is there.
  TILEFOLD_HD static bool is_number([[maybe_unused]] double sum) {
#if defined(__CUDA_ARCH__)
    return true;
#else
    return sum == sum;
#endif
  }

  // Of numbers; if there is a NaN: NaN on a device, anything on a host.
  template <int Begin, int Count, int N>
  TILEFOLD_HD static float greatest(const float (&x)[N]) {
    if constexpr (Count == 1) {
      return x[Begin];
    } else {
      return detail::not_below(greatest<Begin, Count / 2>(x),
                               greatest<Begin + Count / 2, Count / 2>(x));
    }
  }
};
template <>
struct ways<reducers::logsumexp> : exponential_ways {};
template <>
struct ways<reducers::softmax_pair> : exponential_ways {};
template <>
struct ways<reducers::geometric_mean> : commutative_ways {};
template <>
struct ways<reducers::harmonic_mean> : commutative_ways {};

}  // namespace tilefold::detail

TILEFOLD_WARNINGS_BACK
