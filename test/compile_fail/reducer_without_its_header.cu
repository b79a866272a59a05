// SPDX-License-Identifier: Apache-2.0
//
// reduce.hpp leaves public reducers to reducer.hpp. (A case of C++ has all headers precompiled.)
// expect: tilefold: a reducer needs #include <tilefold/reducer.hpp>
// errors: 1
#include <tilefold/reduce.hpp>

#if !defined(TILEFOLD_MUST_FAIL)
#include <tilefold/reducer.hpp>
#endif

struct total {
  using reducer_concept = tilefold::reducer_tag;
  static constexpr bool commutative = true;

  TILEFOLD_HD float lift(float value) const { return value; }
  TILEFOLD_HD float combine(float a, float b) const { return a + b; }
  TILEFOLD_HD float project(float value) const { return value; }
};

void sum(cudaStream_t stream, const float* x, float* out) {
  tilefold::reduce_into(stream, x, x + 100, out, total{});
}
