// SPDX-License-Identifier: Apache-2.0
//
// A functor that holds a std::vector: its bytes would lead a kernel to host memory.
// expect: tilefold: a function that a GPU calls is copied there as bytes
// errors: 2
#include <vector>

#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
using weights = std::vector<float>;
#else
using weights = const float*;
#endif

struct weighted {
  weights w;
  TILEFOLD_HD float operator()(float x) const { return x; }
};
struct weighted_sum {
  weights w;
  TILEFOLD_HD float operator()(float x, float y) const { return x + y; }
};

void sum(tilefold::cuda_executor& gpu, const float* first, const float* last, const weighted& f,
         const weighted_sum& op, float* out) {
  tilefold::transform_reduce_into(gpu, first, last, out, 0.0f, tilefold::plus(), f);
  tilefold::reduce_into(gpu, first, last, out, op);
}
