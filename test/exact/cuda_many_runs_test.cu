// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of squares of floats as doubles by key on a GPU, against the host.
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactMany, SquaresOfRuns) {
  check_runs<float, double>(reducers::exact_sum_of_squares<double>{});
}

}  // namespace
}  // namespace tilefold::test
