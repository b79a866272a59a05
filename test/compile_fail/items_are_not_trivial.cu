// SPDX-License-Identifier: Apache-2.0
//
// The items of segments move between threads, whatever is made of them.
// expect: tilefold: on a GPU the items of segments, views and runs of keys must be trivially
// errors: 1
#include <tilefold/tilefold.cuh>

struct item {
#if defined(TILEFOLD_MUST_FAIL)
  TILEFOLD_HD item(const item& other) : x(other.x) {}
#endif
  float x;
};
struct sum_of_x {
  using reducer_concept = tilefold::reducer_tag;
  TILEFOLD_HD float lift(const item& i) const { return i.x; }
  TILEFOLD_HD float combine(float a, float b) const { return a + b; }
  TILEFOLD_HD float project(float a) const { return a; }
  template <class Acc>
  TILEFOLD_HD Acc identity() const {
    return 0;
  }
};

void sum(tilefold::cuda_executor& gpu, const item* items, float* out) {
  tilefold::segmented_reduce_into(gpu, items, 3, 2, out, sum_of_x());
}
