// SPDX-License-Identifier: Apache-2.0
//
// Exact means of halves by segment, by column and by axis on a GPU, against the host. Means,
// norms and sums of squares differ in what an item is lifted to and in the result alone: most
// types of items have one of them by a verb, and all of them over ranges (cuda_suite_of_*.cuh).
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactVerbsOfHalf, MeansOfSegments) { check_segments<half, half>(reducers::exact_mean{}); }
TEST(CudaExactVerbsOfHalf, MeansOfColumns) { check_columns<half, half>(reducers::exact_mean{}); }
TEST(CudaExactVerbsOfHalf, MeansOfAxes) { check_axes<half, half>(reducers::exact_mean{}); }

}  // namespace
}  // namespace tilefold::test
