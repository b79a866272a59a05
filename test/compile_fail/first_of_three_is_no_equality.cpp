// SPDX-License-Identifier: Apache-2.0
//
// Of three arguments the equality comes first.
// expect: tilefold: of three arguments at the end of reduce_by_key the first is the equality of keys
#include <tilefold/tilefold.hpp>

struct same_tens {
  bool operator()(int a, int b) const { return a / 10 == b / 10; }
};

void fold(const int* keys, const float* items, int* keys_out, float* out) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::reduce_by_key(keys, keys + 3, items, keys_out, out, 0.0f, tilefold::plus{},
                          same_tens{});
#else
  tilefold::reduce_by_key(keys, keys + 3, items, keys_out, out, same_tens{}, 0.0f,
                          tilefold::plus{});
#endif
}

int main() {}
