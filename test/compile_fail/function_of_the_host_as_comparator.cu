// SPDX-License-Identifier: Apache-2.0
//
// A comparator by its address, which means nothing to a GPU.
// expect: tilefold: a GPU cannot call a function of the host
// errors: 3
#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
bool less(float a, float b) { return a < b; }
#else
struct is_less {
  TILEFOLD_HD bool operator()(float a, float b) const { return a < b; }
};
constexpr is_less less;
#endif

void find(tilefold::cuda_executor& exec, const float* x) {
  (void)tilefold::min_element(exec, x, x + 10, less);
  (void)tilefold::max_element(exec, x, x + 10, less, tilefold::last_of_equal);
  (void)tilefold::minmax_element(exec, x, x + 10, less);
}

int main() {}
