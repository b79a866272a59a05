// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of squares of doubles by every verb that has many results on a GPU, against the host.
// Other programs have the other reducers: each takes minutes to compile.
#include <gtest/gtest.h>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactVerbsOfDouble, SumsOfSquares) {
  check_many<double, double>(reducers::exact_sum_of_squares{});
}

}  // namespace
}  // namespace tilefold::test
