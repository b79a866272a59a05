// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of squares of doubles by segment and by column on a GPU, against the host. Means,
// norms and sums of squares differ in what an item is lifted to and in the result alone: most
// types of items have one of them by a verb, and all of them over ranges (cuda_suite_of_*.cuh).
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactVerbsOfDouble, SquaresOfSegments) {
  check_segments<double, double>(reducers::exact_sum_of_squares{});
}
TEST(CudaExactVerbsOfDouble, SquaresOfColumns) {
  check_columns<double, double>(reducers::exact_sum_of_squares{});
}

}  // namespace
}  // namespace tilefold::test
