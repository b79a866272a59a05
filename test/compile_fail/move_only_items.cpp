// SPDX-License-Identifier: Apache-2.0
//
// A fold keeps copies of its accumulators.
// expect: tilefold: the items are folded in a type that cannot be copied
// errors: 1
#include <tilefold/tilefold.hpp>

struct number {
  int value = 0;
  number() = default;
#if defined(TILEFOLD_MUST_FAIL)
  number(const number&) = delete;
  number(number&&) = default;
#else
  number(const number&) = default;
#endif
};

struct larger {
  number operator()(const number& a, const number& b) const {
    number result;
    result.value = a.value < b.value ? b.value : a.value;
    return result;
  }
};

int fold(const number* first, const number* last) {
  return static_cast<number>(tilefold::reduce(first, last, larger{})).value;
}
