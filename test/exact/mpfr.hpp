// SPDX-License-Identifier: Apache-2.0
//
// Real arithmetic of so many bits that sums and products of doubles are exact, by GNU MPFR: the
// oracle of the exact sums.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <type_traits>

#include <tilefold/half.hpp>

namespace tilefold::test {

/// A real number; sums and products are exact.
class real {
 public:
  real() {
    mpfr_init2(value_, 6000);
    mpfr_set_zero(value_, 1);
  }
  ~real() { mpfr_clear(value_); }
  real(const real&) = delete;
  real& operator=(const real&) = delete;

  void add(double x) { mpfr_add_d(value_, value_, x, MPFR_RNDN); }
  void add_product(double x, double y) {
    mpfr_t product;
    mpfr_init2(product, 6000);
    mpfr_set_d(product, x, MPFR_RNDN);
    mpfr_mul_d(product, product, y, MPFR_RNDN);
    mpfr_add(value_, value_, product, MPFR_RNDN);
    mpfr_clear(product);
  }
  /// One rounding: a quotient of 6000 bits is not exact, but no tie of a double lies so near.
  void divide(std::uint64_t n) { mpfr_div_ui(value_, value_, n, MPFR_RNDZ); }
  void root() { mpfr_sqrt(value_, value_, MPFR_RNDZ); }

  bool is_zero() const { return mpfr_zero_p(value_) != 0; }
  bool is_negative() const { return mpfr_sgn(value_) < 0; }

  template <class T>
  T rounded() const;

 private:
  mpfr_t value_;
};

template <>
inline double real::rounded<double>() const {
  return mpfr_get_d(value_, MPFR_RNDN);
}
template <>
inline float real::rounded<float>() const {
  return mpfr_get_flt(value_, MPFR_RNDN);
}

inline double as_double(double x) { return x; }
inline double as_double(half x) { return static_cast<float>(x); }
inline double as_double(bfloat16 x) { return static_cast<float>(x); }

/// Rounded once by the definition: of all numbers of 16 bits the nearest, the even one of two.
template <class T>
T nearest_of_16_bits(const mpfr_t value) {
  mpfr_t best;
  mpfr_t distance;
  mpfr_init2(best, 6000);
  mpfr_init2(distance, 6000);
  T result{};
  bool any = false;
  // What lies beyond the largest number counts as twice the last step away from it.
  for (unsigned bits = 0; bits < 65536; ++bits) {
    T candidate;
    candidate.bits = static_cast<std::uint16_t>(bits);
    const auto x = static_cast<float>(candidate);
    if (x != x || bits == 0x8000) continue;
    double place = x;
    if (x > 3.4e38f || x < -3.4e38f) {
      T largest;
      largest.bits = std::is_same_v<T, half> ? 0x7bff : 0x7f7f;
      T before = largest;
      --before.bits;
      const double last = static_cast<float>(largest);
      place = last + (last - static_cast<float>(before));
      if (x < 0) place = -place;
    }
    mpfr_sub_d(distance, value, place, MPFR_RNDN);
    mpfr_abs(distance, distance, MPFR_RNDN);
    const int order = any ? mpfr_cmp(distance, best) : -1;
    if (order < 0 || (order == 0 && (bits & 1) == 0)) {
      mpfr_set(best, distance, MPFR_RNDN);
      result = candidate;
      any = true;
    }
  }
  mpfr_clear(best);
  mpfr_clear(distance);
  return result;
}
template <>
inline half real::rounded<half>() const {
  return nearest_of_16_bits<half>(value_);
}
template <>
inline bfloat16 real::rounded<bfloat16>() const {
  return nearest_of_16_bits<bfloat16>(value_);
}

}  // namespace tilefold::test
