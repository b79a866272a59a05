// SPDX-License-Identifier: Apache-2.0
//
// Rows on a GPU count no items.
// expect: tilefold: on a GPU transform_rows takes no reducer that asks for indices, such as arg_min
// errors: 1
#include <tilefold/cuda.cuh>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/transform_rows.hpp>

struct joined {
  template <class Value>
  TILEFOLD_HD float operator()(float item, const Value&) const {
    return item;
  }
};

void run(tilefold::cuda_executor& gpu, const float* rows, float* out) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::transform_rows_into(gpu, rows, 10, 100, out, tilefold::reducers::arg_min<>{}, joined{});
#else
  tilefold::transform_rows_into(gpu, rows, 10, 100, out, tilefold::reducers::min<>{}, joined{});
#endif
}

int main() {}
