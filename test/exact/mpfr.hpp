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

  void clear() { mpfr_set_zero(value_, 1); }
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
  const std::uint16_t infinity = std::is_same_v<T, half> ? 0x7c00 : 0x7f80;
  // The numbers >= 0 in their order; what lies beyond the largest one is a step away from it.
  const auto place = [&](int bits) {
    const auto number = [](int b) {
      T x;
      x.bits = static_cast<std::uint16_t>(b);
      return static_cast<double>(static_cast<float>(x));
    };
    if (bits < infinity) return number(bits);
    return 2 * number(infinity - 1) - number(infinity - 2);
  };
  const int negative = mpfr_signbit(value) != 0 ? 0x8000 : 0;
  // The largest one that is not above |value|.
  int below = 0;
  for (int step = 0x4000; step > 0; step /= 2) {
    if (below + step <= infinity && mpfr_cmp_d(value, place(below + step)) >= 0 && negative == 0)
      below += step;
    if (below + step <= infinity && mpfr_cmp_d(value, -place(below + step)) <= 0 && negative != 0)
      below += step;
  }
  if (below < infinity) {
    // Both are doubles, and so is the middle.
    const double middle = 0.5 * (place(below) + place(below + 1));
    const int order = negative != 0 ? -mpfr_cmp_d(value, -middle) : mpfr_cmp_d(value, middle);
    if (order > 0 || (order == 0 && below % 2 != 0)) ++below;
  }
  T result;
  result.bits = static_cast<std::uint16_t>(below | negative);
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
