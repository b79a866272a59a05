// SPDX-License-Identifier: Apache-2.0
//
// What depends on no order commutes.
// expect: tilefold: an order-free reduction is commutative: a reducer that says order_free must say commutative, too
#include <tilefold/tilefold.hpp>

struct longest {
  using reducer_concept = tilefold::reducer_tag;
  static constexpr bool order_free = true;
#if !defined(TILEFOLD_MUST_FAIL)
  static constexpr bool commutative = true;
#endif

  int lift(int x) const { return x; }
  int combine(int a, int b) const { return a < b ? b : a; }
  int project(int x) const { return x; }
};

int fold(const int* items) { return tilefold::reduce(items, items + 3, longest{}); }

int main() {}
