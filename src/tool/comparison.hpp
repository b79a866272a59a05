// SPDX-License-Identifier: Apache-2.0
//
// The outcome of --check: how far a result is from a reference computed in another way.
#pragma once

#include <limits>
#include <string>

#include "reference.hpp"
#include "scalar.hpp"

namespace tilefold::tool {

struct comparison {
  std::string method;     // "serial long double on the CPU"
  std::string reference;  // its value as text
  bool exact;             // nothing is rounded here: any difference is a fault
  bool equal;
  // Differences; for complex values of the worse part. Not set if exact.
  long double absolute = 0;
  long double relative = 0;
  long double ulps = 0;  // units in the last place of the result's type, at the reference
};

/// Against a reference of the result's own type: bit for bit if `op` rounds nothing on it.
comparison compare(std::string method, op_kind op, const scalar& result, const scalar& reference);

/// Against a reference of higher precision, for sums and products of floating or complex values.
comparison compare(std::string method, const scalar& result,
                   reference_complex<long double> reference);

/// Whether `op` on values of type `accumulator` rounds nothing.
bool is_exact(op_kind op, dtype accumulator);

/// A reference as a value of type Accumulator, to which it is known to convert.
template <class Accumulator, class T>
scalar narrowed(const T& reference) {
  if constexpr (is_reference_complex<T>) {
    using real = typename Accumulator::value_type;
    return scalar::of(
        Accumulator(static_cast<real>(reference.re), static_cast<real>(reference.im)));
  } else if constexpr (is_narrow_float<Accumulator>) {
    return scalar::of(static_cast<Accumulator>(static_cast<float>(reference)));
  } else {
    // A NaN result has one pattern, whichever NaN came in.
    if (reference != reference) return scalar::of(std::numeric_limits<Accumulator>::quiet_NaN());
    return scalar::of(static_cast<Accumulator>(reference));
  }
}

}  // namespace tilefold::tool
