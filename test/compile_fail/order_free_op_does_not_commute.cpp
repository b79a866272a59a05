// SPDX-License-Identifier: Apache-2.0
//
// What depends on no order commutes.
// expect: tilefold: an order-free reduction is commutative: op_traits that say order_free must say commutative, too
// alone: it specialises a template of tilefold's
#include <tilefold/tilefold.hpp>

struct longest {
  int operator()(int a, int b) const { return a < b ? b : a; }
};

template <>
struct tilefold::op_traits<longest, int> {
  static constexpr bool order_free = true;
#if defined(TILEFOLD_MUST_FAIL)
  static constexpr bool commutative = false;
#else
  static constexpr bool commutative = true;
#endif
  static constexpr bool separately_rounded = true;
};

int fold(const int* items) { return tilefold::reduce(items, items + 3, longest{}); }

int main() {}
