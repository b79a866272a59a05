// SPDX-License-Identifier: Apache-2.0
//
// What stands before the operator of reduce_by_key is neither an equality of these keys nor an
// initial value.
// expect: tilefold: the argument before the operator of reduce_by_key must be an equality
// never: no matching function
#include <tilefold/tilefold.hpp>

struct point {
  float x, y;
  bool operator==(const point& other) const { return x == other.x && y == other.y; }
};

#if defined(TILEFOLD_MUST_FAIL)
struct same_row {
  bool operator()(int a, int b) const { return a == b; }
};
#else
struct same_row {
  bool operator()(const point& a, const point& b) const { return a.y == b.y; }
};
#endif

void fold(const point* keys, const float* items, point* keys_out, float* out) {
  tilefold::reduce_by_key(keys, keys + 3, items, keys_out, out, same_row{}, tilefold::plus{});
}

int main() {}
