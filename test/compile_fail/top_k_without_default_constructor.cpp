// SPDX-License-Identifier: Apache-2.0
//
// Lists of the best items are arrays, whose items exist before there is anything to put into them.
// expect: tilefold: top_k and bottom_k keep items in an array: they need a default constructor and assignment
// errors: 1
#include <vector>

#include <tilefold/tilefold.hpp>

struct item {
  int value;

#if defined(TILEFOLD_MUST_FAIL)
  explicit item(int v) : value(v) {}
#endif
  friend bool operator<(const item& a, const item& b) { return a.value < b.value; }
};

auto fold(const std::vector<item>& x) {
  return tilefold::reduce(x, tilefold::reducers::top_k<3>{});
}
