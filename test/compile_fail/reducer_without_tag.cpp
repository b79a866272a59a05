// SPDX-License-Identifier: Apache-2.0
//
// A reducer of the caller's own that does not say that it is one.
// expect: a reducer of your own says 'using reducer_concept = tilefold::reducer_tag;'
// errors: 1
#include <tilefold/tilefold.hpp>

struct sum_of_squares_in_double {
#if !defined(TILEFOLD_MUST_FAIL)
  using reducer_concept = tilefold::reducer_tag;
#endif
  double lift(float x) const { return double{x} * x; }
  double combine(double left, double right) const { return left + right; }
  double project(double squares) const { return squares; }
  template <class Acc>
  static Acc identity() {
    return 0;
  }
};

auto total(const float* first, const float* last) {
  return tilefold::reduce(first, last, sum_of_squares_in_double());
}
