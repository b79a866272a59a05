// SPDX-License-Identifier: Apache-2.0
//
// Rows are loaded 16 bytes at a time, and items of 12 bytes stand across.
// expect: tilefold: on a GPU transform_rows takes items of 1, 2, 4, 8 or 16 bytes
// errors: 1
#include <tilefold/cuda.cuh>
#include <tilefold/reducer.hpp>
#include <tilefold/transform_rows.hpp>

template <class Real>
struct pair_of {
  Real x, y, z;
#if !defined(TILEFOLD_MUST_FAIL)
  Real w;
#endif
};
using item = pair_of<float>;

struct sum_of_x {
  using reducer_concept = tilefold::reducer_tag;
  TILEFOLD_HD float lift(const item& one) const { return one.x; }
  TILEFOLD_HD float combine(float a, float b) const { return a + b; }
  TILEFOLD_HD float project(float sum) const { return sum; }
};
struct share {
  TILEFOLD_HD float operator()(const item& one, float sum) const { return one.x / sum; }
};

void run(tilefold::cuda_executor& gpu, const item* rows, float* out) {
  tilefold::transform_rows_into(gpu, rows, 10, 100, out, sum_of_x{}, share{});
}

int main() {}
