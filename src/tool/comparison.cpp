// SPDX-License-Identifier: Apache-2.0
//
// Differences between a result and a reference of at least its precision.
#include "comparison.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "format.hpp"

namespace tilefold::tool {

namespace {

struct difference {
  long double absolute, relative, ulps;
};

constexpr difference none{0, 0, 0};

difference worse(const difference& a, const difference& b) {
  return {std::max(a.absolute, b.absolute), std::max(a.relative, b.relative),
          std::max(a.ulps, b.ulps)};
}

template <class Real>
long double unit_in_last_place(long double x) {
  using limits = std::numeric_limits<Real>;
  const int smallest = limits::min_exponent - 1;
  const int exponent = x == 0 ? smallest : std::max(std::ilogb(x), smallest);
  return std::ldexp(1.0L, exponent - (limits::digits - 1));
}

template <class Real>
difference differ(Real result, long double reference) {
  constexpr long double infinity = std::numeric_limits<long double>::infinity();
  if (std::isnan(result) && std::isnan(reference)) return none;
  // The reference may reach beyond the range of Real; there its rounded value counts.
  if (std::isinf(result) && static_cast<Real>(reference) == result) return none;
  const long double absolute = std::fabs(static_cast<long double>(result) - reference);
  if (absolute == 0) return none;
  if (!std::isfinite(absolute)) return {infinity, infinity, infinity};
  const long double relative = reference == 0 ? infinity : absolute / std::fabs(reference);
  return {absolute, relative, absolute / unit_in_last_place<Real>(reference)};
}

template <class T>
difference differ_from(const T& result, reference_complex<long double> reference) {
  if constexpr (std::is_floating_point_v<T>) {
    return differ(result, reference.re);
  } else if constexpr (requires { result.imag(); }) {
    return worse(differ(result.real(), reference.re), differ(result.imag(), reference.im));
  } else {
    return none;  // integers are compared exactly; narrow floats are never a sum's type
  }
}

template <class T>
reference_complex<long double> widened(const T& value) {
  if constexpr (requires { value.imag(); }) {
    return {value.real(), value.imag()};
  } else {
    return {reference_lift<long double>(value), 0};
  }
}

std::string reference_text(dtype type, reference_complex<long double> reference) {
  constexpr int digits = std::numeric_limits<long double>::max_digits10;
  const std::string re = format_significant(reference.re, digits);
  if (!is_complex(type)) return re;
  return "(" + re + "," + format_significant(reference.im, digits) + ")";
}

}  // namespace

comparison compare(std::string method, op_kind op, const scalar& result, const scalar& reference) {
  comparison outcome;
  if (is_exact(op, result.type())) {
    outcome.exact = true;
    outcome.equal = result.same_bits(reference);
  } else {
    const auto wide = visit(reference.type(), [&]<class T>(std::type_identity<T>) {
      return widened(reference.as<T>());
    });
    outcome = compare({}, result, wide);
  }
  outcome.method = std::move(method);
  outcome.reference = format_value(reference);
  return outcome;
}

comparison compare(std::string method, const scalar& result,
                   reference_complex<long double> reference) {
  const difference d = visit(result.type(), [&]<class T>(std::type_identity<T>) {
    return differ_from(result.as<T>(), reference);
  });
  comparison outcome;
  outcome.method = std::move(method);
  outcome.reference = reference_text(result.type(), reference);
  outcome.exact = false;
  outcome.equal = d.absolute == 0;
  outcome.absolute = d.absolute;
  outcome.relative = d.relative;
  outcome.ulps = d.ulps;
  return outcome;
}

bool is_exact(op_kind op, dtype accumulator) {
  const bool rounds = op == op_kind::sum || op == op_kind::product;
  return !rounds || (!is_floating(accumulator) && !is_complex(accumulator));
}

}  // namespace tilefold::tool
